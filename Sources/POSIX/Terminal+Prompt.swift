internal import Glibc

extension Terminal {
    /// How a question that is not waited for at any price ended.
    public enum PromptOutcome: Hashable, Sendable {
        /// There is an answer.
        case answered
        /// The time was over; half an answer is forgotten.
        case timedOut
        /// What the question was asked for has something to say; half an answer is forgotten.
        case overtaken
    }

    /// Asks `prompt` and reads one line into `answer`, without its line end.
    ///
    /// Without `echo` nothing of what is typed is shown. Whatever ends the question (Ctrl-C, Ctrl-\,
    /// a hang-up, a polite kill), the terminal is as it was before the signal goes off, and what was
    /// typed of the answer is gone; after Ctrl-Z and `fg` the question is asked again.
    public func ask(_ prompt: String, echo: Bool, into answer: inout OutputSpan<UInt8>)
        throws(TerminalError)
    {
        _ = try ask(prompt, echo: echo, until: nil, unless: nil, into: &answer)
    }

    /// Asks as ``ask(_:echo:into:)`` does, but only until `deadline`, and only as long as there is nothing
    /// to be had of `other`.
    ///
    /// - Parameter beforeSignal: is told the signal that is about to go off, which may end the process.
    public func ask(
        _ prompt: String, echo: Bool, until deadline: Moment?,
        unless other: Polling.Wish?, into answer: inout OutputSpan<UInt8>,
        beforeSignal: @escaping (SignalQueue.Signal) -> Void = { _ in }
    ) throws(TerminalError) -> PromptOutcome {
        let before = try settings()
        var quiet = before
        if !echo {
            quiet.c_lflag &= ~tcflag_t(ECHO)
            quiet.c_lflag |= tcflag_t(ECHONL)
        }
        var awaited = [Polling.Wish.reading(descriptor)]
        if let other { awaited.append(other) }
        let question = Question(
            prompt: prompt, before: before, quiet: quiet, awaited: awaited, deadline: deadline,
            beforeSignal: beforeSignal)
        let signals: SignalQueue
        do {
            signals = try SignalQueue([.interrupt, .terminate, .hangUp, .quit, .stop])
        } catch {
            throw .system(error)
        }
        let start = answer.count
        let outcome: Result<PromptOutcome, TerminalError>
        do {
            try apply(quiet, flushing: true)
            try write(prompt)
            outcome = .success(try read(into: &answer, question, signals: signals))
        } catch {
            outcome = .failure(error)
        }
        // Half an answer must not wait in the terminal for the shell to read it and keep it.
        let isAnswered = if case .success(.answered) = outcome { true } else { false }
        if !isAnswered { answer.removeLast(answer.count - start) }
        try apply(before, flushing: !isAnswered)
        if case .success = outcome, !isAnswered { try write("\n") }
        return try outcome.get()
    }

    private struct Question {
        let prompt: String
        /// The terminal's settings before the question, and during it.
        let before: termios
        let quiet: termios
        /// The terminal, and what may overtake the answer.
        let awaited: [Polling.Wish]
        let deadline: Moment?
        let beforeSignal: (SignalQueue.Signal) -> Void
    }

    // The kernel edits the line; bytes come when Return was pressed.
    private func read(
        into answer: inout OutputSpan<UInt8>, _ question: Question, signals: borrowing SignalQueue
    ) throws(TerminalError) -> PromptOutcome {
        let start = answer.count
        while true {
            let ready: [Bool]
            let signal: SignalQueue.Signal?
            do {
                ready = try signals.wait(
                    for: question.awaited, milliseconds: question.deadline?.millisecondsAhead)
                signal = try signals.next()
            } catch {
                throw .system(error)
            }
            if let signal {
                try apply(question.before, flushing: true)
                try write("\n")
                question.beforeSignal(signal)
                do {
                    if signal == .stop {
                        try signals.deliver(signal)
                    } else {
                        try signals.postpone(signal)
                    }
                } catch {
                    throw .system(error)
                }
                guard signal == .stop else { throw .interrupted }
                answer.removeLast(answer.count - start)
                try apply(question.quiet, flushing: true)
                try write(question.prompt)
            } else if ready.dropFirst().contains(true) {
                return .overtaken
            } else if ready[0] {
                if try takeLine(into: &answer, start: start) { return .answered }
            } else if question.deadline?.millisecondsAhead == 0 {
                return .timedOut
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
