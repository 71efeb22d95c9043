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
    }
}
