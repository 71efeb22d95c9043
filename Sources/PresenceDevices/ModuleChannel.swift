public import POSIX

/// The modules' end of the pipes, in the program that runs them.
///
/// Standard input and output are taken away from the modules, which are strangers' code: what one of them
/// prints must not be taken for our word, and what it reads must not be the person's answer to another.
public final class ModuleChannel {
    private let input: FileDescriptor
    private let output: FileDescriptor

    /// Takes over standard input and output, and says that it is ready.
    public init() throws(SystemCallFailure) {
        input = try FileDescriptor(owning: StandardStream.input.rawValue).duplicate()
        output = try FileDescriptor(owning: StandardStream.output.rawValue).duplicate()
        try StandardStream.fillGaps()
        try send(.ready(version: ModuleFrame.version))
    }

    /// Passes on what a module says.
    public func say(_ text: String, isError: Bool) throws(SystemCallFailure) {
        try send(.says(text, isError: isError))
    }

    /// Passes on what a module asks, and waits for the answer.
    ///
    /// - Returns: the answer without its line end; `nil` when there is nobody to give one.
    public func ask(_ text: String, isEchoed: Bool) throws(SystemCallFailure) -> ModuleAnswer? {
        try send(.asks(text, isEchoed: isEchoed))
        var incoming = try IncomingFrame(limit: 1 + ModuleFrame.longestAnswer)
        guard case .complete(let frame) = try incoming.advance(from: input),
            frame.withBytes({ $0[0] }) == ModuleFrame.answer
        else { return nil }
        return ModuleAnswer(frame: frame)
    }

    /// Says what came of it all, and ends the process.
    public func end(with verdict: ModuleVerdict) -> Never {
        do throws(SystemCallFailure) {
            try send(.verdict(verdict))
        } catch {
            // Nobody is left to be told.
            ProcessEnd.atOnce(with: 6)
        }
        // What the modules arranged to be done at the end is not done: it could take forever.
        ProcessEnd.atOnce(with: 0)
    }

    private func send(_ frame: ModuleFrame) throws(SystemCallFailure) {
        try output.writeAll(frame.bytes.span)
    }
}

/// What a person answered; wiped when its last owner lets go.
public struct ModuleAnswer {
    private let frame: WipedBuffer

    fileprivate init(frame: WipedBuffer) { self.frame = frame }

    /// Lends the answer.
    public func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        frame.withBytes { body($0.extracting(1..<$0.count)) }
    }
}
