public import WatchwordSystem

/// The modules' side of the pipes, in the program that runs them.
///
/// The modules are third-party code, so they get no access to standard input and output: their
/// output must not be mistaken for this program's, and they must not read the person's answer to
/// another module.
public final class ModuleChannel {
    private let input: FileDescriptor
    private let output: FileDescriptor

    /// Takes over standard input and output, and reports that it is ready.
    public init() throws(SystemCallFailure) {
        input = try FileDescriptor(owning: StandardStream.input.rawValue).duplicate()
        output = try FileDescriptor(owning: StandardStream.output.rawValue).duplicate()
        try StandardStream.fillGaps()
        try send(.ready(version: ModuleFrame.version))
    }

    /// Forwards a module's message.
    public func say(_ text: String, isError: Bool) throws(SystemCallFailure) {
        try send(.says(text, isError: isError))
    }

    /// Forwards a module's question and waits for the answer.
    ///
    /// - Returns: the answer without its line ending; `nil` if there is none.
    public func ask(_ text: String, isEchoed: Bool) throws(SystemCallFailure) -> ModuleAnswer? {
        try send(.asks(text, isEchoed: isEchoed))
        var incoming = try IncomingFrame(limit: ModuleAnswer.largestFrame)
        guard case .complete(let frame) = try incoming.advance(from: input) else { return nil }
        do throws(FieldReader.Unreadable) { return try ModuleAnswer(parsing: frame) } catch {
            return nil
        }
    }

    /// Reports the verdict and ends the process.
    public func end(with verdict: ModuleVerdict) -> Never {
        do throws(SystemCallFailure) {
            try send(.verdict(verdict))
        } catch {
            // There is nobody left to report to.
            ProcessEnd.atOnce(with: 6)
        }
        // The modules' own exit handlers do not run: they could take forever.
        ProcessEnd.atOnce(with: 0)
    }

    private func send(_ frame: ModuleFrame) throws(SystemCallFailure) {
        try FrameWriter(frame).write(to: output)
    }
}
