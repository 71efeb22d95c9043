internal import Cryptography

/// Reads the binary fields of what was sealed: numbers, and byte strings behind a 32-bit length.
///
/// What doesn't fit, or is left over, makes the whole unreadable.
struct SecretFields {
    private(set) var position = 0

    /// The content is not what was expected; where and what is the caller's to say.
    struct Unreadable: Error {}

    /// Reads a number of `count` bytes.
    mutating func number(_ bytes: Span<UInt8>, _ count: Int) throws(Unreadable) -> UInt64 {
        let range = try take(count, of: bytes)
        var value: UInt64 = 0
        for index in range { value = value << 8 | UInt64(bytes[index]) }
        return value
    }

    /// Reads a byte string's place; it has at most `limit` bytes.
    mutating func string(_ bytes: Span<UInt8>, limit: Int) throws(Unreadable) -> Range<Int> {
        let count = try number(bytes, 4)
        guard count <= UInt64(limit) else { throw Unreadable() }
        return try take(Int(count), of: bytes)
    }

    /// Reads the place of the next `count` bytes.
    mutating func take(_ count: Int, of bytes: Span<UInt8>) throws(Unreadable) -> Range<Int> {
        guard count <= bytes.count - position else { throw Unreadable() }
        defer { position += count }
        return position..<position + count
    }

    /// Reads a byte string as text.
    mutating func text(_ bytes: Span<UInt8>, limit: Int) throws(Unreadable) -> String {
        let range = try string(bytes, limit: limit)
        guard let text = String(copying: bytes.extracting(range)) else { throw Unreadable() }
        return text
    }

    /// Nothing may be left.
    func finish(_ bytes: Span<UInt8>) throws(Unreadable) {
        guard position == bytes.count else { throw Unreadable() }
    }
}

extension String {
    /// Copies UTF-8; `nil` when it is none.
    init?(copying bytes: Span<UInt8>) {
        do { self.init(copying: try UTF8Span(validating: bytes)) } catch { return nil }
    }
}

extension OutputSpan<UInt8> {
    /// Appends a number as `count` bytes, the highest first.
    mutating func append(_ value: UInt64, bytes count: Int) {
        for index in (0..<count).reversed() {
            append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index)))
        }
    }

    /// Appends a length in 32 bits, then the bytes.
    mutating func append(string bytes: Span<UInt8>) {
        append(UInt64(bytes.count), bytes: 4)
        append(copying: bytes)
    }
}
