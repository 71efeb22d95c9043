internal import OneTimePassword
public import WatchwordCryptography
internal import WatchwordSystem

/// 256 random bits that open the vault without the passphrase; the owner writes them down.
public struct RecoveryKey: Sendable {
    let secret: SecretBytes

    static let count = 32
    private static let checkCount = 3
    private static let groupCount = 4
    private static let label = Array("watchword recovery key".utf8)

    /// Generates a key.
    ///
    /// The key opens no vault until it is added to one.
    public static func make() -> RecoveryKey {
        RecoveryKey(secret: Randomness.secret(count: count))
    }

    /// Creates a key from its 32 bytes.
    init(secret: SecretBytes) { self.secret = secret }

    /// The key in the form to write down: 14 groups of four letters and digits, separated by
    /// dashes.
    ///
    /// The last 24 bits are a checksum that detects transcription errors.
    public func text() -> SecretBytes {
        let check = RecoveryKey.check(of: secret)
        let bytes = SecretBytes(capacity: RecoveryKey.count + RecoveryKey.checkCount) { output in
            secret.withBytes { output.append(copying: $0) }
            output.append(copying: check.span)
        }
        let letters = Base32.encode(bytes)
        let groups = letters.count / RecoveryKey.groupCount
        return SecretBytes(capacity: letters.count + groups - 1) { output in
            letters.withBytes { letters in
                for index in letters.indices {
                    if index > 0, index % RecoveryKey.groupCount == 0 {
                        output.append(UInt8(ascii: "-"))
                    }
                    output.append(letters[index])
                }
            }
        }
    }

    /// Parses a typed key; ignores spaces, dashes and case.
    ///
    /// - Throws: ``VaultError/recoveryKeyLength(_:expected:)``,
    ///   ``VaultError/recoveryKeyCharacter``, ``VaultError/recoveryKeyMistyped``.
    public init(parsing text: SecretBytes) throws(VaultError) {
        let letters = SecretBytes(capacity: text.count) { output in
            text.withBytes { text in
                for index in text.indices where !RecoveryKey.isSeparator(text[index]) {
                    let isLower = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(text[index])
                    output.append(isLower ? text[index] - 0x20 : text[index])
                }
            }
        }
        let expected = (RecoveryKey.count + RecoveryKey.checkCount) * 8 / 5
        guard letters.count == expected else {
            throw .recoveryKeyLength(letters.count, expected: expected)
        }
        let bytes = try replacingErrors(
            of: letters.withBytes { try Base32.decode($0) }, with: VaultError.recoveryKeyCharacter)
        let secret = SecretBytes(capacity: RecoveryKey.count) { output in
            bytes.withBytes { output.append(copying: $0.extracting(0..<RecoveryKey.count)) }
        }
        let check = bytes.withBytes { [UInt8](copying: $0.extracting(RecoveryKey.count...)) }
        guard RecoveryKey.check(of: secret) == check else { throw .recoveryKeyMistyped }
        self.secret = secret
    }

    // 24 bits of a digest of 256 random bits do not help an attacker guess the key.
    private static func check(of secret: SecretBytes) -> [UInt8] {
        let message = SecretBytes(capacity: label.count + secret.count) { output in
            output.append(copying: label.span)
            secret.withBytes { output.append(copying: $0) }
        }
        return message.withBytes { message in
            Array(sha256(message).prefix(checkCount))
        }
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        [UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "\t"), 0x0A, 0x0D].contains(byte)
    }
}
