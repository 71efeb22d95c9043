internal import WatchwordCryptography

/// The parts of an enrolled secret: 32 bytes that only its holder knows, its generation and a mark.
///
/// The server computes the mark with its own key. The mark lets it recognise every secret that it
/// ever issued without storing any of them, so it can tell even a very old secret from a guess, and
/// the row does not grow.
struct PresentedSecret: Sendable {
    /// The 32 bytes that only the holder knows.
    let secret: SecretBytes
    /// 0 for the secret issued at enrolment; each rotation adds one.
    let generation: UInt64
    /// The first 16 bytes of ``LookupKey/mark(of:credential:generation:)``.
    let mark: [UInt8]

    static let secretCount = 32
    static let markCount = 16
    static let count = secretCount + 8 + markCount

    /// Splits a token, which always has the right length.
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

    /// Creates the secret of a generation, with its mark.
    init(
        _ secret: SecretBytes, credential: CredentialID, generation: UInt64, marking key: LookupKey
    ) {
        self.secret = secret
        self.generation = generation
        let full = key.mark(of: secret, credential: credential, generation: generation)
        mark = Array(full.prefix(Self.markCount))
    }

    /// Whether the server ever issued this secret for this credential.
    func wasIssued(for credential: CredentialID, marking key: LookupKey) -> Bool {
        let full = key.mark(of: secret, credential: credential, generation: generation)
        return isEqualInConstantTime(mark.span, full.span.extracting(..<Self.markCount))
    }

    /// All parts as a token.
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
