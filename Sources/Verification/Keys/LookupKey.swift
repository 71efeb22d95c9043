internal import Cryptography

/// Makes what a row is found by, without saying what it stands for.
struct LookupKey: Sendable {
    private let seeds: SecretBytes
    private let tokens: SecretBytes
    private let marks: SecretBytes
    private let recoverySets: SecretBytes

    init(_ secret: SecretBytes) throws(CryptographyFailure) {
        seeds = try secret.derived("watchword blind index")
        tokens = try secret.derived("watchword token digest")
        marks = try secret.derived("watchword secret mark")
        recoverySets = try secret.derived("watchword recovery set")
    }

    /// The blind index of a seed (RFC 6238, section 3, R5), whatever it is used with.
    func fingerprint(of seed: SecretBytes) throws(CryptographyFailure) -> [UInt8] {
        try seed.withBytes { seed throws(CryptographyFailure) in
            try hmac(.sha256, key: seeds, message: seed)
        }
    }

    /// The blind index of the one set of recovery codes that a subject may have in use.
    func fingerprint(ofSetFor subject: Subject) throws(CryptographyFailure) -> [UInt8] {
        try hmac(.sha256, key: recoverySets, message: subject.utf8.span)
    }

    /// The digest by which a token is stored: one of many random bits needs no slow hash (NIST SP
    /// 800-63B-4, section 3.1.2.2), the key is beyond that.
    func digest(of token: SecretBytes, as kind: Token.Kind) throws(CryptographyFailure) -> [UInt8] {
        var stream = try HMACStream(.sha256, key: tokens)
        try stream.update(Array(kind.prefix.utf8).span)
        try token.withBytes { token throws(CryptographyFailure) in try stream.update(token) }
        return try stream.finish()
    }

    /// Marks a secret as the one of this generation that was handed out for this credential.
    func mark(
        of secret: SecretBytes, credential: CredentialID, generation: UInt64
    ) throws(CryptographyFailure) -> [UInt8] {
        var head = ByteWriter()
        head.write(credential.bytes)
        head.write(generation)
        var stream = try HMACStream(.sha256, key: marks)
        try stream.update(head.bytes.span)
        try secret.withBytes { secret throws(CryptographyFailure) in try stream.update(secret) }
        return try stream.finish()
    }
}
