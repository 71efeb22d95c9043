internal import Cryptography

/// Reads the binary fields of a plaintext: numbers, and byte strings prefixed with a 32-bit length.
///
/// Missing or extra bytes make the whole plaintext unreadable.
struct SecretFields {
    private(set) var position = 0

    /// The content is malformed.
    ///
    /// The caller reports which part it is.
    struct Unreadable: Error {}

    /// Reads a number of `count` bytes.
    mutating func number(_ bytes: Span<UInt8>, _ count: Int) throws(Unreadable) -> UInt64 {
        let range = try take(count, of: bytes)
        var value: UInt64 = 0
        for index in range { value = value << 8 | UInt64(bytes[index]) }
        return value
    }

    /// Reads a byte string of at most `limit` bytes; returns its range.
    mutating func string(_ bytes: Span<UInt8>, limit: Int) throws(Unreadable) -> Range<Int> {
        let count = try number(bytes, 4)
        guard count <= UInt64(limit) else { throw Unreadable() }
        return try take(Int(count), of: bytes)
    }

    /// Skips `count` bytes; returns their range.
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

    /// Verifies that no bytes are left.
    func finish(_ bytes: Span<UInt8>) throws(Unreadable) {
        guard position == bytes.count else { throw Unreadable() }
    }
}

extension String {
    /// Copies UTF-8; `nil` if the bytes are not valid.
    init?(copying bytes: Span<UInt8>) {
        do { self.init(copying: try UTF8Span(validating: bytes)) } catch { return nil }
    }
}

extension OutputSpan<UInt8> {
    /// Appends a number as `count` bytes, big-endian.
    mutating func append(_ value: UInt64, bytes count: Int) {
        for index in (0..<count).reversed() {
            append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index)))
        }
    }

    /// Appends a 32-bit length, then the bytes.
    mutating func append(string bytes: Span<UInt8>) {
        append(UInt64(bytes.count), bytes: 4)
        append(copying: bytes)
    }
}
