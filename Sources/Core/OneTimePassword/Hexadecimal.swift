public import WatchwordCryptography

/// Hexadecimal digits, in which some issuers print keys.
public enum Hexadecimal {
    /// Decodes text strictly: pairs of digits in either case, and nothing else.
    ///
    /// - Throws: ``OneTimePasswordError/notHexadecimal(at:)`` or
    ///   ``OneTimePasswordError/oddDigitCount``.
    public static func decode(_ text: Span<UInt8>) throws(OneTimePasswordError) -> SecretBytes {
        // A long text of another kind is refused before any memory is allocated for it.
        for index in text.indices where text[index].hexDigitValue == nil {
            throw .notHexadecimal(at: index)
        }
        guard text.count.isMultiple(of: 2) else { throw .oddDigitCount }
        return SecretBytes(capacity: text.count / 2) { output in
            var high: UInt8 = 0
            for index in text.indices {
                let digit = text[index].hexDigitValue ?? 0
                if index.isMultiple(of: 2) {
                    high = digit << 4
                } else {
                    output.append(high | digit)
                }
            }
        }
    }

    /// Encodes a secret in lower-case digits.
    ///
    /// The text is also secret.
    package static func encode(_ secret: SecretBytes) -> SecretBytes {
        secret.withBytes { bytes in
            SecretBytes(capacity: 2 * bytes.count) { output in
                for index in bytes.indices {
                    for digit in [bytes[index] >> 4, bytes[index] & 15] {
                        output.append(digit < 10 ? 0x30 + digit : 0x61 + digit - 10)
                    }
                }
            }
        }
    }
}
