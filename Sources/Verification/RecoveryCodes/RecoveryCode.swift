internal import Cryptography
internal import OneTimePassword

/// The form of recovery codes: 80 random bits as 16 Base32 characters, in groups.
enum RecoveryCode {
    /// The number of codes in a set.
    static let codesPerSet = 10
    /// 80 bits, more than the 64 that NIST SP 800-63B-4, section 4.2.1.1 requires.
    static let byteCount = 10
    private static let groupCount = 4
    private static let textCount = 19
    private static let dash = UInt8(ascii: "-")

    /// Generates a code.
    static func make(_ randomness: RandomSource) throws(CryptographyFailure) -> SecretBytes {
        let characters = Base32.encode(try randomness.secret(byteCount))
        return SecretBytes(capacity: textCount) { output in
            characters.withBytes { characters in
                for index in characters.indices {
                    if index > 0, index.isMultiple(of: groupCount) { output.append(dash) }
                    output.append(characters[index])
                }
            }
        }
    }

    /// Whether `text` has the form that ``make(_:)`` writes.
    static func isWellFormed(_ text: Span<UInt8>) -> Bool {
        text.count == textCount
            && text.indices.allSatisfy { index in
                index % (groupCount + 1) == groupCount
                    ? text[index] == dash : isBase32(text[index])
            }
    }

    private static func isBase32(_ character: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(character)
            || (UInt8(ascii: "2")...UInt8(ascii: "7")).contains(character)
    }
}
