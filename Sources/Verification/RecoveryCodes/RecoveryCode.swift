internal import Cryptography
internal import OneTimePassword

/// How recovery codes are made and look: 80 random bits in 16 of Base32's characters, in groups.
enum RecoveryCode {
    /// How many codes are shown at once.
    static let setCount = 10
    /// 80 bits, more than the 64 that NIST SP 800-63B-4, section 4.2.1.1 asks for.
    static let byteCount = 10
    private static let groupCount = 4
    private static let textCount = 19
    private static let dash = UInt8(ascii: "-")

    /// Makes a code.
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

    /// Whether `text` looks as ``make(_:)`` writes codes.
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
