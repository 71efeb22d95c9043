internal import WatchwordCryptography

/// The stored state of an enrolled secret.
///
/// It contains only digests of the current secret and its successor, never the secrets.
package struct SecretChain: Hashable, Sendable {
    /// The generation of the current secret.
    var generation: UInt64
    /// The digest of the current secret under the row's pepper.
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
    /// A ticket's own row does not prove that the login is open: an attacker with write access to
    /// the database could put a deleted row back.
    var openLogins: [VerificationID] = []

    /// The maximum number of open logins.
    ///
    /// The tickets of older logins are refused.
    static let maximumOpenLogins = 8

    /// The response that issued the successor of the current secret.
    struct Issued: Hashable, Sendable {
        /// The digest of the successor under the row's pepper.
        let digest: [UInt8]
        /// SHA-256 of the rotation nonce.
        let nonceDigest: [UInt8]
        /// The id of the decision.
        let verification: VerificationID
        /// The time of the decision.
        let time: UnixTime
    }

    /// Creates a chain at its first secret.
    init(digest: [UInt8], at now: UnixTime) {
        generation = 0
        self.digest = digest
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
    }

    init(from reader: inout ByteReader) throws(VerifierError) {
        generation = try reader.read()
        digest = try reader.readBytes()
        enrolledAt = try reader.readTime()
        usedAt = try reader.readTime()
        failures = Int(try reader.read(UInt8.self))
        handedOut = try reader.readOptional { reader throws(VerifierError) in
            let digest = try reader.readBytes()
            let nonceDigest = try reader.readBytes()
            guard let id = VerificationID(bytes: try reader.readBytes()) else { throw .damagedRow }
            return Issued(
                digest: digest, nonceDigest: nonceDigest, verification: id,
                time: try reader.readTime())
        }
        let count = Int(try reader.read(UInt8.self))
        guard count <= Self.maximumOpenLogins else { throw .damagedRow }
        for _ in 0..<count {
            guard let id = VerificationID(bytes: try reader.readBytes()) else { throw .damagedRow }
            openLogins.append(id)
        }
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

    /// The reason why the chain has expired; `nil` if it has not.
    func expiry(at now: UnixTime, policy: Policy) -> Event.Reason? {
        if now.milliseconds(since: enrolledAt) >= policy.absoluteLifetime { return .tooOld }
        if now.milliseconds(since: usedAt) >= policy.idleLifetime { return .idle }
        return nil
    }
}
