public import Cryptography

/// Hexadecimal digits, in which some issuers print keys.
public enum Hexadecimal {
    /// Decodes text strictly: pairs of digits in either case, and nothing else.
    ///
    /// - Throws: ``HexadecimalError``.
    public static func decode(_ text: Span<UInt8>) throws(HexadecimalError) -> SecretBytes {
        try SecretBytes(capacity: text.count / 2 + 1) { output throws(HexadecimalError) in
            var high: UInt8?
            for index in text.indices {
                guard let digit = text[index].hexDigitValue else { throw .character(at: index) }
                if let first = high {
                    output.append(first << 4 | digit)
                    high = nil
                } else {
                    high = digit
                }
            }
            guard high == nil else { throw .oddCount }
        }
    }
}

/// Why a text is not hexadecimal.
///
/// It reports the position, never the content.
public enum HexadecimalError: Error, Hashable, Sendable {
    /// A character that is not a hexadecimal digit.
    case character(at: Int)
    /// The last digit has no partner.
    case oddCount
}
