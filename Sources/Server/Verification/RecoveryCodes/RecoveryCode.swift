internal import OneTimePassword
internal import WatchwordCryptography

/// The form of recovery codes: 80 random bits as 16 Base32 characters, in groups.
enum RecoveryCode {
    /// The number of codes in a set.
    static let codesPerSet = 10
    /// 80 bits, more than the 64 that NIST SP 800-63B-4, section 4.2.1.1 requires.
    static let byteCount = 10
    private static let characterCount = 16
    private static let groupCount = 4
    private static let dash = UInt8(ascii: "-")

    /// Generates a code.
    static func make(_ randomness: RandomSource) -> SecretBytes {
        grouped(Base32.encode(randomness.secret(byteCount)))
    }

    /// A code as it was shown, from its characters in upper or lower case; `nil` if they are not those
    /// of a code.
    static func shown(_ characters: SecretBytes) -> SecretBytes? {
        let isCode = characters.withBytes { characters in
            characters.count == characterCount
                && characters.indices.allSatisfy { isBase32(upperCase(characters[$0])) }
        }
        return isCode ? grouped(characters) : nil
    }

    private static func grouped(_ characters: SecretBytes) -> SecretBytes {
        SecretBytes(capacity: characterCount + characterCount / groupCount - 1) { output in
            characters.withBytes { characters in
                for index in characters.indices {
                    if index > 0, index.isMultiple(of: groupCount) { output.append(dash) }
                    output.append(upperCase(characters[index]))
                }
            }
        }
    }

    private static func upperCase(_ character: UInt8) -> UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character) ? character - 0x20 : character
    }

    private static func isBase32(_ character: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(character)
            || (UInt8(ascii: "2")...UInt8(ascii: "7")).contains(character)
    }
}
