internal import Cryptography

/// Makes what a row is found by, without saying what it stands for.
struct LookupKey: Sendable {
    private let seeds: HMACKey
    private let tokens: HMACKey
    private let marks: HMACKey
    private let recoverySets: HMACKey

    init(_ secret: SecretBytes) throws(CryptographyFailure) {
        seeds = HMACKey(try secret.derived("watchword blind index"))
        tokens = HMACKey(try secret.derived("watchword token digest"))
        marks = HMACKey(try secret.derived("watchword secret mark"))
        recoverySets = HMACKey(try secret.derived("watchword recovery set"))
    }

    /// The blind index of a seed (RFC 6238, section 3, R5): the same for all seeds that `algorithm`'s
    /// HMAC takes for one key.
    ///
    /// HMAC hashes a key that is longer than a block, and pads a shorter one with zeros (RFC 2104,
    /// section 2): so a long key is indexed by its digest, and zeros at the end do not count. The
    /// algorithm is no part of the index: up to 64 bytes, a key has the same one for all of them.
    func fingerprint(
        of seed: SecretBytes, for algorithm: HashAlgorithm
    ) throws(CryptographyFailure) -> [UInt8] {
        let key = seed.count > algorithm.blockCount ? try algorithm.digest(of: seed) : seed
        return try key.withBytes { key throws(CryptographyFailure) in
            var count = key.count
            while count > 0, key[count - 1] == 0 { count -= 1 }
            return try seeds.authenticationCode(of: key.extracting(..<count))
        }
    }

    /// The blind indexes that a seed has with any algorithm, each once; `algorithm`'s own comes first.
    func fingerprints(
        of seed: SecretBytes, first algorithm: HashAlgorithm
    ) throws(CryptographyFailure) -> [[UInt8]] {
        var all = [try fingerprint(of: seed, for: algorithm)]
        for other in HashAlgorithm.allCases where other != algorithm {
            let fingerprint = try fingerprint(of: seed, for: other)
            if !all.contains(fingerprint) { all.append(fingerprint) }
        }
        return all
    }

    /// The blind index of the one set of recovery codes that a subject may have in use.
    func fingerprint(ofSetFor subject: Subject) throws(CryptographyFailure) -> [UInt8] {
        try recoverySets.authenticationCode(of: subject.utf8.span)
    }

    /// The digest by which a token is stored: one of many random bits needs no slow hash (NIST SP
    /// 800-63B-4, section 3.1.2.2), the key is beyond that.
    func digest(of token: SecretBytes, as kind: Token.Kind) throws(CryptographyFailure) -> [UInt8] {
        let prefix = Array(kind.prefix.utf8)
        return try tokens.authenticationCode(of: prefix.span, token)
    }

    /// Marks a secret as the one of this generation that was handed out for this credential.
    func mark(
        of secret: SecretBytes, credential: CredentialID, generation: UInt64
    ) throws(CryptographyFailure) -> [UInt8] {
        var head = ByteWriter()
        head.write(credential.bytes)
        head.write(generation)
        return try marks.authenticationCode(of: head.bytes.span, secret)
    }
}
