/// Splits one direction of PostgreSQL's protocol into messages.
struct MessageStream {
    /// A message and its type byte, which a client's first messages do not have.
    struct Message {
        let kind: Character?
        let bytes: ArraySlice<UInt8>
    }

    private var buffer: ArraySlice<UInt8> = []
    /// Whether the client's first messages, which have no type byte, are still expected.
    var isBeginning: Bool
    /// Whether the bytes are encrypted, so that messages cannot be distinguished.
    var isOpaque = false

    init(isBeginning: Bool) { self.isBeginning = isBeginning }

    mutating func append(_ bytes: [UInt8]) { buffer += bytes }

    /// The next message, once it is complete.
    mutating func next() -> Message? {
        guard !buffer.isEmpty else { return nil }
        if isOpaque { return take(buffer.count, kind: nil) }
        let start = isBeginning ? 0 : 1
        guard buffer.count >= start + 4 else { return nil }
        let length = buffer.dropFirst(start).prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard buffer.count >= start + length else { return nil }
        let kind = isBeginning ? nil : buffer.first.map { Character(Unicode.Scalar($0)) }
        return take(start + length, kind: kind)
    }

    private mutating func take(_ count: Int, kind: Character?) -> Message {
        defer { buffer = buffer.dropFirst(count) }
        return Message(kind: kind, bytes: buffer.prefix(count))
    }
}
