public import WatchwordSystem

// The protocol between `watchword` and `watchword-presence`, in frames (see `IncomingFrame`).
//
// program → watchword, first: ready
// program → watchword, each:  says or asks; after a question, the program waits for the answer
//                             before it sends the next frame
// watchword → program, each:  the bytes that were typed
// program → watchword, last:  verdict
//
// A text is not yet safe to show on a terminal.

/// A frame from the program that runs the system's modules.
enum ModuleFrame: Hashable, Sendable {
    case ready(version: UInt8)
    /// A module has a message for the person.
    case says(String, isError: Bool)
    /// A module has a question for the person.
    case asks(String, isEchoed: Bool)
    case verdict(ModuleVerdict)

    static let version: UInt8 = 3
    /// Bytes of a module's text; the rest is truncated.
    static let longestText = 4096
    /// The maximum size of a frame in bytes: an invalid byte becomes three when it is replaced.
    static let largestFrame = 3 * longestText + 64
    /// Bytes of an answer; PAM's own limit (`PAM_MAX_RESP_SIZE`).
    static let longestAnswer = 512
}

extension ModuleFrame: Transferable {
    private enum Kind: UInt8, Transferable {
        // Other versions of the protocol report their version in the same form.
        case ready = 1
        case says, asks, verdict
    }

    func write(to output: FrameWriter) {
        switch self {
        case .ready(let version): output.append(Kind.ready, version)
        case .says(let text, let isError): output.append(Kind.says, text, isError)
        case .asks(let text, let isEchoed): output.append(Kind.asks, text, isEchoed)
        case .verdict(let verdict): output.append(Kind.verdict, verdict)
        }
    }

    init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .ready: self = try fields.make(Self.ready, from: bytes)
        case .says: self = .says(try fields.moduleText(bytes), isError: try fields.flag(bytes))
        case .asks: self = .asks(try fields.moduleText(bytes), isEchoed: try fields.flag(bytes))
        case .verdict: self = try fields.make(Self.verdict, from: bytes)
        }
    }
}

extension FieldReader {
    fileprivate mutating func moduleText(_ bytes: Span<UInt8>) throws(Unreadable) -> String {
        try text(bytes, limit: 3 * ModuleFrame.longestText)
    }
}

/// The system modules' verdict on the person.
public enum ModuleVerdict: Hashable, Sendable {
    /// The person was recognised, and the account may be used.
    case granted
    /// The person was not recognised.
    case denied
    /// The modules could not decide, or the account cannot be used.
    case failed(PAMCheckFailure.Reason)
}

extension ModuleVerdict: Transferable {
    private enum Kind: UInt8, Transferable {
        case granted, denied, failed
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .granted: output.append(Kind.granted)
        case .denied: output.append(Kind.denied)
        case .failed(let reason): output.append(Kind.failed, reason)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .granted: self = .granted
        case .denied: self = .denied
        case .failed:
            let reason: PAMCheckFailure.Reason = try fields.value(bytes)
            guard reason.isReportedByModules else { throw Unreadable() }
            self = .failed(reason)
        }
    }
}

/// A person's answer to a module; wiped when the last reference is released.
public struct ModuleAnswer {
    private let frame: WipedBuffer
    private let text: Range<Int>

    /// The maximum size of a frame in bytes.
    static let largestFrame = 4 + ModuleFrame.longestAnswer

    /// Parses a frame; `nil` if it is malformed.
    init?(parsing frame: WipedBuffer) {
        do throws(FieldReader.Unreadable) { self = try ModuleAnswer(reading: frame) } catch {
            return nil
        }
    }

    private init(reading frame: WipedBuffer) throws(FieldReader.Unreadable) {
        self.frame = frame
        text = try frame.withBytes { bytes throws(FieldReader.Unreadable) in
            var fields = FieldReader(.bigEndian)
            let text = try fields.string(bytes, limit: ModuleFrame.longestAnswer)
            try fields.finish(bytes)
            return text
        }
    }

    /// Lends the bytes of the answer to `body`.
    public func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        frame.withBytes { body($0.extracting(text)) }
    }
}

/// The modules' side of the messages, in the program that runs them.
///
/// The modules are third-party code, so they get no access to standard input and output: their
/// output must not be mistaken for this program's, and they must not read the person's answer to
/// another module.
public final class ModuleChannel {
    private let input: FrameConnection
    private let output: FrameConnection
    /// How long a person may take for an answer; `nil` if the other side limits that.
    private let patience: Duration?

    /// How long the other side may take to receive a message.
    private static let timeToReceive = Duration.seconds(5)

    /// Takes over standard input and output, and reports that it is ready.
    public init() throws(SystemCallFailure) {
        input = FrameConnection(
            try FileDescriptor(owning: StandardStream.input.rawValue).duplicate())
        output = FrameConnection(
            try FileDescriptor(owning: StandardStream.output.rawValue).duplicate())
        patience = nil
        try StandardStream.fillGaps()
        try send(.ready(version: ModuleFrame.version))
    }

    /// Talks to a person's program over a connection, and reports that it is ready.
    init(
        over connection: borrowing FileDescriptor, patience: Duration
    ) throws(SystemCallFailure) {
        input = FrameConnection(try connection.duplicate())
        output = input
        self.patience = patience
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
        let received = try input.receive(
            limit: ModuleAnswer.largestFrame, idleTime: patience, timeout: nil)
        guard case .frame(let frame) = received else { return nil }
        return ModuleAnswer(parsing: frame)
    }

    /// Reports the verdict and ends the process.
    public func end(with verdict: ModuleVerdict) -> Never {
        do throws(SystemCallFailure) {
            try report(verdict)
        } catch {
            // The failure can no longer be reported.
            ProcessEnd.atOnce(with: 6)
        }
        // The modules' own exit handlers do not run: they could take forever.
        ProcessEnd.atOnce(with: 0)
    }

    func report(_ verdict: ModuleVerdict) throws(SystemCallFailure) { try send(.verdict(verdict)) }

    private func send(_ frame: ModuleFrame) throws(SystemCallFailure) {
        let isSent = try output.send(FrameWriter(frame), timeout: ModuleChannel.timeToReceive)
        guard isSent else { throw .connectionLost }
    }
}
