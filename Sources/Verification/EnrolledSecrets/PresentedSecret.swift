internal import Cryptography

/// The parts of an enrolled secret: 32 bytes that only its holder knows, and which one it is.
///
/// The generation and a mark, which the server makes with a key of its own, let it recognise every
/// secret that it ever handed out without keeping any of them: an earlier one is told from a guess
/// however long ago it was retired, and the row does not grow.
struct PresentedSecret: Sendable {
    /// What is secret: 32 bytes.
    let secret: SecretBytes
    /// 0 for the one handed out at the enrolment, one more at each rotation.
    let generation: UInt64
    /// The first 16 bytes of ``LookupKey/mark(of:credential:generation:)``.
    let mark: [UInt8]

    static let secretCount = 32
    static let markCount = 16
    static let count = secretCount + 8 + markCount

    /// Takes a token apart, which has the right length.
    init(_ token: Token) {
        precondition(token.kind == .secret, "only a secret has these parts")
        (secret, generation, mark) = token.bytes.withBytes { bytes in
            var generation: UInt64 = 0
            for index in Self.secretCount..<(Self.secretCount + 8) {
                generation = generation << 8 | UInt64(bytes[index])
            }
            return (
                SecretBytes(copying: bytes.extracting(..<Self.secretCount)), generation,
                (Self.secretCount + 8..<Self.count).map { bytes[$0] }
            )
        }
    }

    /// The secret of a generation as it is handed out.
    init(
        _ secret: SecretBytes, credential: CredentialID, generation: UInt64, marking key: LookupKey
    ) throws(CryptographyFailure) {
        self.secret = secret
        self.generation = generation
        let full = try key.mark(of: secret, credential: credential, generation: generation)
        mark = Array(full.prefix(Self.markCount))
    }

    /// Whether the server handed it out for this credential, whenever that was.
    func wasHandedOut(
        for credential: CredentialID, marking key: LookupKey
    ) throws(CryptographyFailure) -> Bool {
        let full = try key.mark(of: secret, credential: credential, generation: generation)
        return isEqualInConstantTime(mark.span, full.span.extracting(..<Self.markCount))
    }

    /// The whole as a token.
    var token: Token {
        Token(
            .secret,
            SecretBytes(capacity: Self.count) { output in
                secret.withBytes { output.append(copying: $0) }
                for shift in stride(from: 56, through: 0, by: -8) {
                    output.append(UInt8(truncatingIfNeeded: generation >> UInt64(shift)))
                }
                for byte in mark { output.append(byte) }
            })
    }
}
