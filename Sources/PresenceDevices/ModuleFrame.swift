// How `watchword-presence` and the one who started it talk, in frames (see `IncomingFrame`).
//
// program → us, once:     ready
// program → us, each:     says or asks; what it asks is answered before it says the next thing
// us → program, each:     "answer" and the bytes that were typed
// program → us, at last:  verdict
// The first byte of a frame tells its kind. A text is UTF-8 up to the frame's end; nothing said so far is
// believed to be fit for a terminal.

/// What the program that runs the system's modules has to say.
enum ModuleFrame: Hashable, Sendable {
    case ready(version: UInt8)
    /// A module tells the person something.
    case says(String, isError: Bool)
    /// A module asks the person something.
    case asks(String, isEchoed: Bool)
    case verdict(ModuleVerdict)

    static let version: UInt8 = 1
    /// Bytes of a module's text; the rest is cut off.
    static let longestText = 4096
    /// A broken byte becomes three when it is put right.
    static let largestFrame = 3 * longestText + 64
    /// Bytes of an answer; PAM's own limit (`PAM_MAX_RESP_SIZE`).
    static let longestAnswer = 512
    /// The kind of an answer's frame.
    static let answer: UInt8 = 1

    private enum Kind: UInt8 {
        case ready = 1
        case info = 2
        case error = 3
        case hiddenQuestion = 4
        case shownQuestion = 5
        case verdict = 6
    }

    /// The frame with its count.
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
        return (0..<4).map { UInt8(truncatingIfNeeded: body.count >> ($0 * 8)) } + body
    }

    /// Reads a frame without its count; nothing for what breaks the rules.
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
