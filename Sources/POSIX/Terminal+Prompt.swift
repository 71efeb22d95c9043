internal import Glibc

extension Terminal {
    /// Asks `prompt` and reads one line into `answer`, without its line end.
    ///
    /// Without `echo` nothing of what is typed is shown. Whatever ends the question (Ctrl-C, Ctrl-\,
    /// a hang-up, a polite kill), the terminal is as it was before the signal is handed on, and what
    /// was typed of the answer is gone; after Ctrl-Z and `fg` the question is asked again.
    public func ask(_ prompt: String, echo: Bool, into answer: inout OutputSpan<UInt8>)
        throws(TerminalError)
    {
        let before = try settings()
        var quiet = before
        if !echo {
            quiet.c_lflag &= ~tcflag_t(ECHO)
            quiet.c_lflag |= tcflag_t(ECHONL)
        }
        let signals: SignalQueue
        do {
            signals = try SignalQueue([.interrupt, .terminate, .hangUp, .quit, .stop])
        } catch {
            throw .system(error)
        }
        let outcome: Result<Void, TerminalError>
        do {
            try apply(quiet, flushing: true)
            try write(prompt)
            try read(
                into: &answer, prompt: prompt, signals: signals, before: before, quiet: quiet)
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        // Half an answer must not wait in the terminal for the shell to read it and keep it.
        let isComplete = if case .success = outcome { true } else { false }
        try apply(before, flushing: !isComplete)
        try outcome.get()
    }

    // The kernel edits the line; bytes come when Return was pressed.
    private func read(
        into answer: inout OutputSpan<UInt8>, prompt: String, signals: borrowing SignalQueue,
        before: termios, quiet: termios
    ) throws(TerminalError) {
        let start = answer.count
        while true {
            let isReadable: Bool
            let signal: SignalQueue.Signal?
            do {
                isReadable = try signals.wait(for: descriptor, milliseconds: nil)
                signal = try signals.next()
            } catch {
                throw .system(error)
            }
            if let signal {
                try apply(before, flushing: true)
                try write("\n")
                do { try signals.deliver(signal) } catch { throw .system(error) }
                guard signal == .stop else { throw .interrupted }
                answer.removeLast(answer.count - start)
                try apply(quiet, flushing: true)
                try write(prompt)
            } else if isReadable, try takeLine(into: &answer, start: start) {
                return
            }
        }
    }

    /// Takes what there is; tells whether the line is complete.
    private func takeLine(into answer: inout OutputSpan<UInt8>, start: Int) throws(TerminalError)
        -> Bool
    {
        guard answer.freeCapacity > 0 else { throw .tooLong }
        let count: Int
        do { count = try descriptor.read(into: &answer) } catch { throw .system(error) }
        guard count > 0 else {
            // Ctrl-D at the start of a line; a hung-up terminal reads as ended, too.
            guard answer.count > start else { throw .ended }
            return true
        }
        guard answer.span[answer.count - 1] == UInt8(ascii: "\n") else { return false }
        _ = answer.removeLast()
        return true
    }
}
