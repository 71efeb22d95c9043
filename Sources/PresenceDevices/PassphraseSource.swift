public import POSIX

/// Where a passphrase comes from; never from an argument's own text.
public enum PassphraseSource: Hashable, Sendable {
    /// The person at the terminal, whatever standard input is; without echo.
    case terminal(prompt: String)
    /// The first line of a file, or of a pipe such as a shell's `<(command)`.
    case file(String)
    /// The next line of standard input; what follows it is left there.
    case standardInput

    /// The most bytes of a passphrase; a terminal takes the kernel's 4,095 for a line.
    private static let longest = 1 << 16

    /// Reads the passphrase, without its line end; `purpose` is shown where a person is asked.
    func read(for purpose: String) throws(PassphraseSourceError) -> WipedBuffer {
        let line: WipedBuffer
        switch self {
        case .terminal(let prompt): return try PassphraseSource.ask(prompt, for: purpose)
        case .file(let path): line = try PassphraseSource.readFile(path)
        case .standardInput:
            line = try PassphraseSource.fill { (output) throws(SystemCallFailure) in
                try StandardStream.input.readLine(into: &output)
            }
        }
        guard line.count > 0 else { throw .input(.empty) }
        return try PassphraseSource.firstLine(of: line)
    }

    private static func ask(_ prompt: String, for purpose: String) throws(PassphraseSourceError)
        -> WipedBuffer
    {
        do throws(TerminalError) {
            let answer: WipedBuffer
            do throws(SystemCallFailure) {
                answer = try WipedBuffer(capacity: 4096)
            } catch {
                throw .system(error)
            }
            let terminal = try Terminal()
            if !purpose.isEmpty { try terminal.write(purpose.visibleOnTerminal + "\n") }
            try answer.append { (output) throws(TerminalError) in
                try terminal.ask(prompt, echo: false, into: &output)
            }
            return answer
        } catch {
            throw .terminal(error)
        }
    }

    private static func readFile(_ path: String) throws(PassphraseSourceError) -> WipedBuffer {
        let file = try open(path)
        return try fill { (output) throws(SystemCallFailure) in
            try file.descriptor.readToEnd(into: &output)
        }
    }

    private static func open(_ path: String) throws(PassphraseSourceError) -> InputFile {
        do { return try InputFile(path, acceptingPipes: true) } catch { throw .input(error) }
    }

    private static func fill(
        _ read: (inout OutputSpan<UInt8>) throws(SystemCallFailure) -> Void
    ) throws(PassphraseSourceError) -> WipedBuffer {
        do {
            // One byte more than there should be shows that there is too much.
            let buffer = try WipedBuffer(capacity: longest + 1)
            try buffer.append(read)
            return buffer
        } catch {
            throw .input(error.meansFolder ? .folder : .system(error))
        }
    }

    private static func firstLine(of text: WipedBuffer) throws(PassphraseSourceError) -> WipedBuffer
    {
        let end = text.withBytes { bytes in
            var end = bytes.indices.first { bytes[$0] == UInt8(ascii: "\n") } ?? bytes.count
            if end > 0, end < bytes.count, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
            return end
        }
        guard end <= longest else { throw .input(.tooLarge(limit: longest)) }
        let line: WipedBuffer
        do { line = try WipedBuffer(capacity: end + 1) } catch { throw .input(.system(error)) }
        text.withBytes { bytes in
            line.append { output in for index in 0..<end { output.append(bytes[index]) } }
        }
        return line
    }
}

/// Why there is no passphrase.
public enum PassphraseSourceError: Error, Hashable, Sendable {
    /// Nobody could be asked, or nobody answered.
    case terminal(TerminalError)
    /// The file, or standard input, does not give one.
    case input(InputFileError)
}
