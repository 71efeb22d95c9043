internal import WatchwordCryptography

/// Computes the keyed indexes by which rows are found, without revealing the indexed values.
package struct LookupKey: Sendable {
    private let seeds: HMACKey
    private let tokens: HMACKey
    private let marks: HMACKey
    private let recoverySets: HMACKey
    private let passkeys: HMACKey
    private let deviceKeys: HMACKey
    private let userHandles: HMACKey
    private let madeUpPasskeys: HMACKey
    private let madeUpTails: HMACKey
    private let dummyPasskeys: HMACKey
    private let clients: HMACKey

    init(_ secret: SecretBytes) {
        seeds = HMACKey(secret.derived("watchword blind index"))
        tokens = HMACKey(secret.derived("watchword token digest"))
        marks = HMACKey(secret.derived("watchword secret mark"))
        recoverySets = HMACKey(secret.derived("watchword recovery set"))
        passkeys = HMACKey(secret.derived("watchword passkey index"))
        deviceKeys = HMACKey(secret.derived("watchword device key index"))
        userHandles = HMACKey(secret.derived("watchword user handle"))
        madeUpPasskeys = HMACKey(secret.derived("watchword made-up passkey"))
        madeUpTails = HMACKey(secret.derived("watchword made-up passkey tail"))
        dummyPasskeys = HMACKey(secret.derived("watchword dummy passkey"))
        clients = HMACKey(secret.derived("watchword client key"))
    }

    /// The blind index of a seed (RFC 6238, section 3, R5): the same for all seeds that HMAC with
    /// `algorithm` treats as the same key.
    ///
    /// HMAC hashes a key that is longer than a block and pads a shorter one with zeros (RFC 2104,
    /// section 2). A long key is therefore indexed by its digest, and trailing zeros do not count.
    /// The algorithm is not part of the index: a key of up to 64 bytes has the same index for all
    /// algorithms.
    func fingerprint(of seed: SecretBytes, for algorithm: HashAlgorithm) -> [UInt8] {
        let key = seed.count > algorithm.blockCount ? algorithm.digest(of: seed) : seed
        return key.withBytes { key in
            var count = key.count
            while count > 0, key[count - 1] == 0 { count -= 1 }
            return seeds.authenticationCode(of: key.extracting(..<count))
        }
    }

    /// The distinct blind indexes of a seed for all algorithms, starting with the one for
    /// `algorithm`.
    func fingerprints(of seed: SecretBytes, first algorithm: HashAlgorithm) -> [[UInt8]] {
        var all = [fingerprint(of: seed, for: algorithm)]
        for other in HashAlgorithm.allCases where other != algorithm {
            let fingerprint = fingerprint(of: seed, for: other)
            if !all.contains(fingerprint) { all.append(fingerprint) }
        }
        return all
    }

    /// The blind index of a subject's set of recovery codes; a subject has at most one active set.
    func fingerprint(ofSetFor subject: Subject) -> [UInt8] {
        recoverySets.authenticationCode(of: subject.utf8.span)
    }

    /// The blind index of a passkey, which finds the row of an assertion, and under which no second
    /// credential can be registered.
    package func fingerprint(
        ofPasskey id: [UInt8], for relyingParty: String
    ) -> [UInt8] {
        var name = ByteWriter()
        name.write(relyingParty)
        name.write(id)
        return passkeys.authenticationCode(of: name.bytes.span)
    }

    /// The blind index of a device key.
    func fingerprint(ofDeviceKey point: [UInt8]) -> [UInt8] {
        deviceKeys.authenticationCode(of: point.span)
    }

    /// The user handle of a subject: always the same 32 bytes, which reveal nothing.
    package func userHandle(of subject: Subject) -> [UInt8] {
        userHandles.authenticationCode(of: subject.utf8.span)
    }

    /// A dummy passkey for a subject without passkeys; the same subject always gets the same one.
    ///
    /// The second half of the id authenticates the first half, so that ``isMadeUp(_:)`` recognises
    /// the id.
    package func madeUpPasskey(
        of subject: Subject, for relyingParty: String
    ) -> PasskeyDescriptor {
        var name = ByteWriter()
        name.write(subject.utf8)
        name.write(relyingParty)
        let code = madeUpPasskeys.authenticationCode(of: name.bytes.span)
        // No id contains the last byte.
        let kind = Self.madeUpKinds[Int(code[31]) % Self.madeUpKinds.count]
        let half = Array(code.prefix(kind.count / 2))
        return PasskeyDescriptor(id: half + madeUpTail(half), transports: kind.transports)
    }

    /// The lengths of ids and the transports of common authenticators, which made-up passkeys
    /// imitate.
    ///
    /// Most people use the passkeys of a phone or a password manager.
    private static let madeUpKinds: [(count: Int, transports: [String])] =
        [(32, ["internal"]), (48, ["nfc", "usb"])]
        + [16, 16, 16, 20, 20, 20].map { ($0, ["hybrid", "internal"]) }

    /// Whether ``madeUpPasskey(of:for:)`` generated this id.
    package func isMadeUp(_ id: [UInt8]) -> Bool {
        guard Self.madeUpKinds.contains(where: { $0.count == id.count }) else { return false }
        let half = id.count / 2
        let tail = madeUpTail(Array(id.prefix(half)))
        return isEqualInConstantTime(tail.span, Array(id.suffix(half)).span)
    }

    /// The number that selects the dummy key for an id; always the same for the same id.
    package func dummyChoice(of id: [UInt8]) -> UInt8 {
        dummyPasskeys.authenticationCode(of: id.span)[0]
    }

    /// The second half of an id, with as many bytes as the first half.
    private func madeUpTail(_ half: [UInt8]) -> [UInt8] {
        Array(madeUpTails.authenticationCode(of: half.span).prefix(half.count))
    }

    /// The digest under which a token is stored.
    ///
    /// A token has enough random bits to need no slow hash (NIST SP 800-63B-4, section 3.1.2.2).
    /// The key adds further protection.
    func digest(of token: SecretBytes, as kind: Token.Kind) -> [UInt8] {
        let prefix = Array(kind.prefix.utf8)
        return tokens.authenticationCode(of: prefix.span, token)
    }

    /// The number of bytes of the mark at the end of an API key, by which a made-up key is refused
    /// without a read.
    static let clientKeyMarkCount = 16

    /// The API key made from these random bytes, followed by their mark.
    func marking(clientKey secret: SecretBytes) -> SecretBytes {
        let mark = secret.withBytes { secret in
            clientKeyMark(of: secret)
        }
        return SecretBytes(capacity: secret.count + mark.count) { output in
            secret.withBytes { output.append(copying: $0) }
            for byte in mark { output.append(byte) }
        }
    }

    /// Whether an API key ends with its mark.
    func isMarked(clientKey key: SecretBytes) -> Bool {
        key.withBytes { key in
            let start = key.count - Self.clientKeyMarkCount
            let mark = clientKeyMark(of: key.extracting(..<start))
            return isEqualInConstantTime(mark.span, key.extracting(start...))
        }
    }

    private func clientKeyMark(of secret: Span<UInt8>) -> [UInt8] {
        Array(clients.authenticationCode(of: secret).prefix(Self.clientKeyMarkCount))
    }

    /// Computes the mark of a secret issued for this credential and generation.
    func mark(of secret: SecretBytes, credential: CredentialID, generation: UInt64) -> [UInt8] {
        var head = ByteWriter()
        head.write(credential.bytes)
        head.write(generation)
        return marks.authenticationCode(of: head.bytes.span, secret)
    }
}
