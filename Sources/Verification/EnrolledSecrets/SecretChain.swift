/// What is stored of an enrolled secret: digests alone, of the current secret and its successor.
struct SecretChain: Hashable, Sendable {
    /// The current secret's number.
    var generation: UInt64
    /// The current secret's digest under the row's pepper.
    var digest: [UInt8]
    /// When the first one was handed out.
    let enrolledAt: UnixTime
    /// When one was last presented rightly.
    var usedAt: UnixTime
    /// Wrong ones since then.
    var failures: Int
    /// What was last answered; nothing before the first login.
    var handedOut: HandedOut?
    /// The logins whose tickets were not redeemed yet, the oldest first.
    ///
    /// A ticket's row alone does not say whether it was redeemed: somebody who writes to the database can
    /// put it back.
    var openLogins: [VerificationID] = []

    /// How many logins are kept open; an older one's ticket is refused.
    static let maximalOpenLogins = 8

    /// The answer that handed out the current secret's successor.
    struct HandedOut: Hashable, Sendable {
        /// The successor's digest under the row's pepper.
        let digest: [UInt8]
        /// SHA-256 of the rotation nonce.
        let nonceDigest: [UInt8]
        /// The decision.
        let verification: VerificationID
        /// When it was.
        let time: UnixTime
    }

    /// A chain at its first secret.
    init(digest: [UInt8], at now: UnixTime) {
        generation = 0
        self.digest = digest
        enrolledAt = now
        usedAt = now
        failures = 0
    }

    /// Adds a login whose ticket may be redeemed.
    mutating func open(_ login: VerificationID) {
        openLogins = (openLogins + [login]).suffix(Self.maximalOpenLogins)
    }

    /// Closes a login, whose ticket is being redeemed.
    ///
    /// - Returns: whether it was open.
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
        writer.writeIfThere(handedOut) { writer, handedOut in
            writer.write(handedOut.digest)
            writer.write(handedOut.nonceDigest)
            writer.write(handedOut.verification.bytes)
            writer.write(handedOut.time)
        }
        writer.write(UInt8(openLogins.count))
        for login in openLogins { writer.write(login.bytes) }
    }

    init(from reader: inout ByteReader) throws(ByteReaderError) {
        generation = try reader.read()
        digest = try reader.readBytes()
        enrolledAt = try reader.readTime()
        usedAt = try reader.readTime()
        failures = Int(try reader.read(UInt8.self))
        handedOut = try reader.readIfThere { reader throws(ByteReaderError) in
            let digest = try reader.readBytes()
            let nonceDigest = try reader.readBytes()
            guard let id = VerificationID(bytes: try reader.readBytes()) else { throw .malformed }
            return HandedOut(
                digest: digest, nonceDigest: nonceDigest, verification: id,
                time: try reader.readTime())
        }
        let count = Int(try reader.read(UInt8.self))
        guard count <= Self.maximalOpenLogins else { throw .malformed }
        for _ in 0..<count {
            guard let id = VerificationID(bytes: try reader.readBytes()) else { throw .malformed }
            openLogins.append(id)
        }
    }
}
