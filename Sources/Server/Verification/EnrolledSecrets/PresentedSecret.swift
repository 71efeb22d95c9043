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

/// Computes the secrets and digests of one credential.
struct SecretDerivation: Sendable {
    let credential: CredentialID
    let lookup: LookupKey
    let meter: WorkMeter?

    /// HMAC-SHA-256(pepper, credential ‖ secret): only this digest of a secret is stored.
    func digest(
        of secret: PresentedSecret, under key: KeyVersion
    ) -> [UInt8] {
        meter?.count(.digests)
        return key.digests.authenticationCode(of: credential.bytes.span, secret.token.bytes)
    }

    /// Whether the server ever issued the secret for this credential.
    func wasIssued(_ secret: PresentedSecret) -> Bool {
        meter?.count(.digests)
        return secret.wasIssued(for: credential, marking: lookup)
    }

    /// Creates the first secret.
    func first(_ random: SecretBytes) -> PresentedSecret {
        PresentedSecret(random, credential: credential, generation: 0, marking: lookup)
    }

    /// HKDF(rotation key, credential ‖ generation ‖ SHA-256(nonce)): the same nonce yields the same
    /// secret.
    func secret(
        generation: UInt64, nonceDigest: [UInt8], under key: KeyVersion
    ) -> PresentedSecret {
        var info = ByteWriter()
        info.write("watchword next secret")
        info.write(credential.bytes)
        info.write(generation)
        info.write(nonceDigest)
        return PresentedSecret(
            derive(info, key), credential: credential, generation: generation,
            marking: lookup)
    }

    /// The login ticket of a decision: the same nonce yields the same ticket.
    func login(
        verification: VerificationID, nonceDigest: [UInt8], under key: KeyVersion
    ) -> Token {
        var info = ByteWriter()
        info.write("watchword login")
        info.write(credential.bytes)
        info.write(verification.bytes)
        info.write(nonceDigest)
        return Token(.loginTicket, derive(info, key))
    }

    private func derive(
        _ info: ByteWriter, _ key: KeyVersion
    ) -> SecretBytes {
        let salt: [UInt8] = []
        return hkdfSHA256(
            secret: key.rotation, salt: salt.span, info: info.bytes.span,
            count: PresentedSecret.secretCount)
    }
}
