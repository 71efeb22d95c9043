internal import WatchwordCoding
internal import WatchwordCryptography
package import WatchwordSystem

/// Clears the clipboard after some time, if it still holds the same content.
///
/// `watchword-clipboard` does this in a small process without a terminal, which outlives the
/// command that wrote the clipboard. It holds a digest of the content, not the content.
package struct ClipboardClearing {
    /// The helper program's name.
    package static let program = "watchword-clipboard"

    private let tool: ClipboardTool
    private let seconds: UInt32
    private let digest: ContentDigest

    /// The size of a request in bytes.
    private static let byteCount = 1 + 4 + 4 + ContentDigest.keyCount + 4 + ContentDigest.count
    /// How often the process wakes, because a wait does not count the time that the machine sleeps.
    private static let step = Duration.seconds(5)

    /// Prepares the clearing of `content`, which `tool` has written.
    package init(of content: Span<UInt8>, by tool: ClipboardTool, after seconds: UInt32) {
        digest = ContentDigest.of(content)
        self.tool = tool
        self.seconds = seconds
    }

    /// Starts the helper program at `path`, which clears the clipboard.
    package func start(_ path: String) throws(SystemCallFailure) {
        try FrameWriter(self).withContent { request throws(SystemCallFailure) in
            try ProgramInput.start(path, input: request, environment: ClipboardTool.environment)
        }
    }

    /// Reads what ``start(_:)`` has written to the helper's standard input; `nil` if it is
    /// malformed.
    package static func read() throws(SystemCallFailure) -> ClipboardClearing? {
        let request = try WipedBuffer(capacity: byteCount + 1)
        try request.append { output throws(SystemCallFailure) in
            while try StandardStream.input.read(into: &output) > 0 {}
        }
        return request.value()
    }

    /// Waits, and clears the clipboard if it still holds the content.
    package func run() throws(ClipboardFailure) {
        let end = Moment.now + .seconds(seconds)
        while end.timeRemaining > .zero {
            _ = try ClipboardFailure.system(
                in: Polling.wait(for: [], timeout: min(end.timeRemaining, ClipboardClearing.step)))
        }
        guard try isStillThere() else { return }
        try tool.clear()
        // Some compositors, such as Weston, ignore the request to clear the clipboard.
        let nothing: [UInt8] = []
        if try isStillThere() { try tool.write(nothing.span) }
    }

    private func isStillThere() throws(ClipboardFailure) -> Bool {
        guard let content = try tool.read() else { return false }
        return content.withBytes { bytes in
            digest.matches(bytes)
        }
    }
}

extension ClipboardClearing: Transferable {
    package func write(to output: FrameWriter) {
        output.append(tool, seconds, digest.key, digest.bytes)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        tool = try fields.value(bytes)
        seconds = try fields.value(bytes)
        digest = ContentDigest(
            key: try fields.secret(bytes, limit: ContentDigest.keyCount),
            bytes: try fields.data(bytes, limit: ContentDigest.count))
        guard digest.key.count == ContentDigest.keyCount, digest.bytes.count == ContentDigest.count
        else { throw Unreadable() }
    }
}

extension ClipboardTool: Transferable {}

/// Recognises the clipboard's content without holding it.
///
/// The key is random, so that equal codes have different digests. A program that can read this
/// process's memory can still find the code from the key and the digest, because codes are short.
struct ContentDigest {
    static let keyCount = 32
    static let count = 32

    let key: SecretBytes
    let bytes: [UInt8]

    static func of(_ content: Span<UInt8>) -> ContentDigest {
        let key = Randomness.secret(count: keyCount)
        return ContentDigest(key: key, bytes: hmac(.sha256, key: key, message: content))
    }

    /// Whether the digest was computed from `content`.
    func matches(_ content: Span<UInt8>) -> Bool {
        let other = hmac(.sha256, key: key, message: content)
        return isEqualInConstantTime(other.span, bytes.span)
    }
}
