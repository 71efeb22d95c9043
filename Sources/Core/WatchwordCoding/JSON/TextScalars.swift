/// Decodes UTF-8 scalar by scalar, and reports each invalid byte.
package struct TextScalars {
    package enum Element: Hashable {
        case scalar(Unicode.Scalar)
        case stray(UInt8)
    }

    private var position = 0

    package init() {}

    /// The next scalar or invalid byte of `bytes`, after the previous one.
    package mutating func next(in bytes: Span<UInt8>) -> Element? {
        guard position < bytes.count else { return nil }
        let first = bytes[position]
        let (count, bits): (Int, UInt32) =
            switch first {
            case 0x00...0x7F: (1, UInt32(first))
            case 0xC2...0xDF: (2, UInt32(first & 0x1F))
            case 0xE0...0xEF: (3, UInt32(first & 0x0F))
            case 0xF0...0xF4: (4, UInt32(first & 0x07))
            default: (0, 0)
            }
        if let scalar = scalar(of: count, beginning: bits, in: bytes) {
            position += count
            return .scalar(scalar)
        }
        position += 1
        return .stray(first)
    }

    private func scalar(of count: Int, beginning bits: UInt32, in bytes: Span<UInt8>)
        -> Unicode.Scalar?
    {
        guard count > 0, position + count <= bytes.count else { return nil }
        var value = bits
        for index in position + 1..<position + count {
            guard bytes[index] & 0xC0 == 0x80 else { return nil }
            value = value << 6 | UInt32(bytes[index] & 0x3F)
        }
        // Overlong encodings and surrogates are not valid UTF-8.
        let smallest: [UInt32] = [0, 0, 0x80, 0x800, 0x10000]
        guard value >= smallest[count] else { return nil }
        return Unicode.Scalar(value)
    }
}
