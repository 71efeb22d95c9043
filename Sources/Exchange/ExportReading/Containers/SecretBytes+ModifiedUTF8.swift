internal import WatchwordCryptography

extension SecretBytes {
    /// The text as UTF-8, if these bytes are Java's modified UTF-8; otherwise `nil`.
    ///
    /// There, a character beyond U+FFFF is a pair of surrogates of three bytes each, and U+0000 has
    /// two bytes. A surrogate alone is refused.
    func decodedModifiedUTF8() -> SecretBytes? {
        var isValid = true
        let text = withBytes { bytes in
            SecretBytes(capacity: bytes.count) { output in
                var reader = ModifiedUTF8Reader()
                while let scalar = reader.next(in: bytes) {
                    guard let encoded = UTF8.encode(scalar) else { break }
                    for byte in encoded { output.append(byte) }
                }
                isValid = reader.position == bytes.count
            }
        }
        return isValid ? text : nil
    }
}

/// Iterates over the characters of modified UTF-8; it stops before an invalid one.
private struct ModifiedUTF8Reader {
    private(set) var position = 0

    mutating func next(in bytes: Span<UInt8>) -> Unicode.Scalar? {
        guard let (first, count) = unit(at: position, in: bytes) else { return nil }
        if let scalar = Unicode.Scalar(first) {
            position += count
            return scalar
        }
        guard (0xD800..<0xDC00).contains(first),
            let (second, secondCount) = unit(at: position + count, in: bytes),
            (0xDC00..<0xE000).contains(second)
        else { return nil }
        position += count + secondCount
        return Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + UInt32(second) - 0xDC00)
    }

    /// The UTF-16 code unit at `start` and the number of its bytes.
    private func unit(at start: Int, in bytes: Span<UInt8>) -> (UInt16, Int)? {
        guard start < bytes.count else { return nil }
        let first = UInt16(bytes[start])
        let count: Int
        switch first {
        case 0x00..<0x80: return (first, 1)
        case 0xC0..<0xE0: count = 2
        case 0xE0..<0xF0: count = 3
        default: return nil
        }
        guard start + count <= bytes.count else { return nil }
        var value = first & (count == 2 ? 0x1F : 0x0F)
        for index in (start + 1)..<(start + count) {
            guard bytes[index] & 0xC0 == 0x80 else { return nil }
            value = value << 6 | UInt16(bytes[index] & 0x3F)
        }
        // Longer forms than necessary are refused, except that of U+0000.
        guard count == 3 ? value >= 0x800 : value >= 0x80 || value == 0 else { return nil }
        return (value, count)
    }
}
