/// Hexadecimal text, as used in vectors.
public enum Hex {
    /// Reads an even number of digits.
    public static func bytes(_ text: String) throws -> [UInt8] {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { throw HexError.notHex }
        return try stride(from: 0, to: digits.count, by: 2).map { index in
            let pair = String(decoding: digits[index...(index + 1)], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16) else { throw HexError.notHex }
            return byte
        }
    }

    /// The bytes as lower-case digits.
    public static func text(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// Why a text is not hexadecimal.
public enum HexError: Error {
    case notHex
}
