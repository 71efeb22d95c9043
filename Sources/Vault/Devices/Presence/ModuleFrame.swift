internal import WatchwordSystem

// The protocol between `watchword` and `watchword-presence`, in frames (see `IncomingFrame`).
//
// program → watchword, first: ready
// program → watchword, each:  says or asks; after a question, the program waits for the answer
//                             before it sends the next frame
// watchword → program, each:  "answer" and the bytes that were typed
// program → watchword, last:  verdict
//
// The first byte of a frame is its kind. A text is UTF-8 up to the frame's end, and is not yet safe
// to show on a terminal.

/// A frame from the program that runs the system's modules.
enum ModuleFrame: Hashable, Sendable {
    case ready(version: UInt8)
    /// A module has a message for the person.
    case says(String, isError: Bool)
    /// A module has a question for the person.
    case asks(String, isEchoed: Bool)
    case verdict(ModuleVerdict)

    static let version: UInt8 = 1
    /// Bytes of a module's text; the rest is truncated.
    static let longestText = 4096
    /// An invalid byte becomes three when it is replaced.
    static let largestFrame = 3 * longestText + 64
    /// Bytes of an answer; PAM's own limit (`PAM_MAX_RESP_SIZE`).
    static let longestAnswer = 512
    /// The kind of the frame that holds an answer.
    static let answer: UInt8 = 1

    private enum Kind: UInt8 {
        case ready = 1
        case info = 2
        case error = 3
        case hiddenQuestion = 4
        case shownQuestion = 5
        case verdict = 6
    }

    /// The encoded frame, preceded by its length.
    var bytes: [UInt8] {
        let body: [UInt8] =
            switch self {
            case .ready(let version): [Kind.ready.rawValue, version]
            case .says(let text, let isError):
                [(isError ? Kind.error : .info).rawValue] + text.utf8
            case .asks(let text, let isEchoed):
                [(isEchoed ? Kind.shownQuestion : .hiddenQuestion).rawValue] + text.utf8
            case .verdict(let verdict): [Kind.verdict.rawValue] + verdict.bytes
            }
        return UInt32(body.count).littleEndianBytes + body
    }

    /// Parses a frame without its count; `nil` if it breaks the protocol.
    init?(parsing frame: Span<UInt8>) {
        guard frame.count > 0, let kind = Kind(rawValue: frame[0]) else { return nil }
        let rest = frame.indices.dropFirst().map { frame[$0] }
        let text = String(decoding: rest, as: UTF8.self)
        switch kind {
        case .ready:
            guard rest.count == 1 else { return nil }
            self = .ready(version: rest[0])
        case .info: self = .says(text, isError: false)
        case .error: self = .says(text, isError: true)
        case .hiddenQuestion: self = .asks(text, isEchoed: false)
        case .shownQuestion: self = .asks(text, isEchoed: true)
        case .verdict:
            guard let verdict = ModuleVerdict(parsing: rest) else { return nil }
            self = .verdict(verdict)
        }
    }
}
