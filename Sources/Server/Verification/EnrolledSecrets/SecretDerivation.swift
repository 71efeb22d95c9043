internal import WatchwordCryptography

/// Computes the secrets and digests of one credential.
struct SecretDerivation: Sendable {
    let credential: CredentialID
    let lookup: LookupKey
    let meter: WorkMeter?

    /// HMAC-SHA-256(pepper, credential ‖ secret): only this digest of a secret is stored.
    func digest(of secret: PresentedSecret, under key: KeyVersion) -> [UInt8] {
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
    func login(verification: VerificationID, nonceDigest: [UInt8], under key: KeyVersion) -> Token {
        var info = ByteWriter()
        info.write("watchword login")
        info.write(credential.bytes)
        info.write(verification.bytes)
        info.write(nonceDigest)
        return Token(.loginTicket, derive(info, key))
    }

    private func derive(_ info: ByteWriter, _ key: KeyVersion) -> SecretBytes {
        let salt: [UInt8] = []
        return hkdfSHA256(
            secret: key.rotation, salt: salt.span, info: info.bytes.span,
            count: PresentedSecret.secretCount)
    }
}
