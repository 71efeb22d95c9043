internal import WatchwordSystem

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

    static let version: UInt8 = 2
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

/// A person's answer to a module; wiped when the last reference is released.
public struct ModuleAnswer {
    private let frame: WipedBuffer
    private let text: Range<Int>

    /// The maximum size of a frame in bytes.
    static let largestFrame = 4 + ModuleFrame.longestAnswer

    /// Parses a frame.
    init(parsing frame: WipedBuffer) throws(FieldReader.Unreadable) {
        self.frame = frame
        text = try frame.withBytes { bytes throws(FieldReader.Unreadable) in
            var fields = FieldReader(.bigEndian)
            let text = try fields.string(bytes, limit: ModuleFrame.longestAnswer)
            try fields.finish(bytes)
            return text
        }
    }

    /// Lends the answer.
    public func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        frame.withBytes { body($0.extracting(text)) }
    }
}
