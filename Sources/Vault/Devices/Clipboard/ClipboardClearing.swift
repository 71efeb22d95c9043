internal import WatchwordCryptography
package import WatchwordSystem

/// Clears the clipboard after some time, if it still holds the same content.
///
/// `watchword-clipboard` does this in a small process without a terminal, which outlives the command
/// that wrote the clipboard. It holds a digest of the content, not the content.
package struct ClipboardClearing {
    /// The helper program's name.
    package static let program = "watchword-clipboard"

    private let tool: ClipboardTool
    private let delay: Duration
    private let digest: ContentDigest

    private static let byteCount = 1 + 4 + ContentDigest.keyCount + ContentDigest.count
    /// How often the process wakes, because a wait does not count the time that the machine sleeps.
    private static let step = Duration.seconds(5)

    /// Prepares the clearing of `content`, which `tool` has written.
    package init(of content: Span<UInt8>, by tool: ClipboardTool, after seconds: UInt32) {
        let digest = ContentDigest.of(content)
        self.init(tool, after: .seconds(seconds), digest)
    }

    private init(_ tool: ClipboardTool, after delay: Duration, _ digest: ContentDigest) {
        self.tool = tool
        self.delay = delay
        self.digest = digest
    }

    /// Starts the helper program at `path`, which clears the clipboard.
    package func start(_ path: String) throws(SystemCallFailure) {
        let request = SecretBytes(capacity: ClipboardClearing.byteCount) { output in
            output.append(tool.rawValue)
            output.append(UInt64(delay.components.seconds), bytes: 4)
            digest.key.withBytes { output.append(copying: $0) }
            output.append(copying: digest.bytes.span)
        }
        try request.withBytes { request throws(SystemCallFailure) in
            try ProgramInput.start(path, input: request, environment: ClipboardTool.environment)
        }
    }

    /// Reads what ``start(_:)`` has written to the helper's standard input; `nil` if it is malformed.
    package static func read() throws(SystemCallFailure) -> ClipboardClearing? {
        let request = try SecretBytes(capacity: byteCount + 1) {
            output throws(SystemCallFailure) in
            while try StandardStream.input.read(into: &output) > 0 {}
        }
        return request.withBytes { ClipboardClearing(parsing: $0) }
    }

    private init?(parsing bytes: Span<UInt8>) {
        var reader = FieldReader(.bigEndian)
        do throws(FieldReader.Unreadable) {
            guard let tool = ClipboardTool(rawValue: try reader.byte(bytes)) else { return nil }
            let seconds = try reader.number(bytes, width: 4)
            let key = try reader.take(ContentDigest.keyCount, of: bytes)
            let digest = try reader.take(ContentDigest.count, of: bytes)
            try reader.finish(bytes)
            self.init(
                tool, after: .seconds(seconds),
                ContentDigest(
                    key: SecretBytes(copying: bytes.extracting(key)),
                    bytes: digest.map { bytes[$0] }))
        } catch {
            return nil
        }
    }

    /// Waits, and clears the clipboard if it still holds the content.
    package func run() throws(ClipboardFailure) {
        let end = Moment.now + delay
        while end.timeRemaining > .zero {
            do {
                _ = try Polling.wait(
                    for: [], timeout: min(end.timeRemaining, ClipboardClearing.step))
            } catch {
                throw .system(error)
            }
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
