internal import WatchwordCryptography

/// The holder of the key that unlocks a device's copy of an enrolled secret, as the device states;
/// no policy relies on this.
public enum SecretCustody: String, CaseIterable, Hashable, Sendable {
    /// A TPM of the device.
    case tpm
    /// A process of a different user of the device.
    case agent
    /// A file of the device's user.
    case file
}

/// The stored state of an enrolled secret.
///
/// It contains only digests of the current secret and its successor, never the secrets.
package struct SecretChain: Hashable, Sendable {
    /// The generation of the current secret.
    var generation: UInt64
    /// The digest of the current secret, with the row's pepper.
    var digest: [UInt8]
    /// When the first secret was issued.
    let enrolledAt: UnixTime
    /// When a valid secret was last presented.
    var usedAt: UnixTime
    /// The number of wrong secrets since then.
    var failures: Int
    /// The last response; `nil` before the first login.
    var handedOut: Issued?
    /// The logins whose tickets have not been redeemed yet, oldest first.
    ///
    /// A ticket's own row does not prove that the login is still open: an attacker with write
    /// access to the database could put a deleted row back.
    var openLogins: [VerificationID] = []
    /// The binding of the secret to its device; `nil` if the device reported none.
    let custody: SecretCustody?

    /// The maximum number of open logins.
    ///
    /// The tickets of older logins are refused.
    static let maximumOpenLogins = 8

    /// The response that issued the successor of the current secret.
    struct Issued: Hashable, Sendable {
        /// The digest of the successor, with the row's pepper.
        let digest: [UInt8]
        /// SHA-256 of the rotation nonce.
        let nonceDigest: [UInt8]
        /// The id of the decision.
        let verification: VerificationID
        /// The time of the decision.
        let time: UnixTime
    }

    init(digest: [UInt8], at now: UnixTime, custody: SecretCustody? = nil) {
        generation = 0
        self.digest = digest
        self.custody = custody
        enrolledAt = now
        usedAt = now
        failures = 0
    }

    /// Adds a login whose ticket may be redeemed.
    mutating func open(_ login: VerificationID) {
        openLogins = (openLogins + [login]).suffix(Self.maximumOpenLogins)
    }

    /// Closes a login when its ticket is redeemed.
    ///
    /// - Returns: whether the login was open.
    mutating func close(_ login: VerificationID) -> Bool {
        guard let index = openLogins.firstIndex(of: login) else { return false }
        openLogins.remove(at: index)
        return true
    }

    func write(into writer: inout ByteWriter) {
        writer.write(generation)
        writer.write(digest)
        writer.write(enrolledAt)
        writer.write(usedAt)
        writer.write(UInt8(failures))
        writer.writeOptional(handedOut) { writer, handedOut in
            writer.write(handedOut.digest)
            writer.write(handedOut.nonceDigest)
            writer.write(handedOut.verification.bytes)
            writer.write(handedOut.time)
        }
        writer.write(UInt8(openLogins.count))
        for login in openLogins { writer.write(login.bytes) }
        // Rows of earlier versions end here.
        if let custody { writer.write(custody.rawValue) }
    }

    init(from reader: inout ByteReader) throws(VerifierError) {
        generation = try reader.read()
        digest = try reader.readBytes()
        enrolledAt = try reader.readTime()
        usedAt = try reader.readTime()
        failures = Int(try reader.read(UInt8.self))
        handedOut =
            try reader.readFlag()
            ? Issued(
                digest: reader.readBytes(), nonceDigest: reader.readBytes(),
                verification: reader.readID(), time: reader.readTime()) : nil
        let count = Int(try reader.read(UInt8.self))
        guard count <= Self.maximumOpenLogins else { throw .damagedRow }
        for _ in 0..<count {
            openLogins.append(try reader.readID())
        }
        custody = reader.isAtEnd ? nil : try reader.readChoice()
    }
}

extension SecretChain {
    /// Classifies the secret with this digest.
    ///
    /// - Parameter presentedGeneration: the generation that the secret's mark confirms; `nil` for a
    ///   secret without a valid mark.
    func finding(
        _ presented: [UInt8], nonceDigest: [UInt8], handedOutAs presentedGeneration: UInt64?
    ) -> LoginAttempt.Finding {
        let isCurrent = isEqualInConstantTime(presented.span, digest.span)
        if let handedOut {
            let isSuccessor = isEqualInConstantTime(presented.span, handedOut.digest.span)
            let isSameNonce = isEqualInConstantTime(nonceDigest.span, handedOut.nonceDigest.span)
            if isCurrent { return isSameNonce ? .again : .reuse }
            if isSuccessor { return .successor }
        } else if isCurrent {
            return .current
        }
        guard let presentedGeneration else { return .foreign }
        let newest = handedOut == nil ? generation : generation + 1
        return presentedGeneration > newest ? .later : .reuse
    }

    /// The reason why the chain has expired; `nil` if the chain has not expired.
    func expiry(at now: UnixTime, policy: Policy) -> Event.Reason? {
        if now.milliseconds(since: enrolledAt) >= policy.absoluteLifetime { return .tooOld }
        if now.milliseconds(since: usedAt) >= policy.idleLifetime { return .idle }
        return nil
    }
}

/// The parts of an enrolled secret: 32 bytes that only its holder knows, its generation and a mark.
///
/// The server computes the mark with its own key. With the mark, the server recognises every secret
/// that it ever issued without storing the secrets. It can distinguish even a very old secret from
/// a guess, and the row does not grow.
struct SecretParts: Sendable {
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

    /// All three parts, as a token.
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
        of secret: SecretParts, under key: KeyVersion
    ) -> [UInt8] {
        meter?.count(.digests)
        return key.digests.authenticationCode(of: credential.bytes.span, secret.token.bytes)
    }

    /// Whether the server ever issued the secret for this credential.
    func wasIssued(_ secret: SecretParts) -> Bool {
        meter?.count(.digests)
        return secret.wasIssued(for: credential, marking: lookup)
    }

    /// The secret of generation 0, made from these random bytes.
    func first(_ random: SecretBytes) -> SecretParts {
        SecretParts(random, credential: credential, generation: 0, marking: lookup)
    }

    /// HKDF(rotation key, credential ‖ generation ‖ SHA-256(nonce)): the same nonce yields the same
    /// secret.
    func secret(
        generation: UInt64, nonceDigest: [UInt8], under key: KeyVersion
    ) -> SecretParts {
        var info = ByteWriter()
        info.write("watchword next secret")
        info.write(credential.bytes)
        info.write(generation)
        info.write(nonceDigest)
        return SecretParts(
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
            count: SecretParts.secretCount)
    }
}
