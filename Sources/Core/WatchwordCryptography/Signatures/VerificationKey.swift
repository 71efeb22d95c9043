internal import COpenSSL

/// A public key that was checked, together with the algorithm of its signatures.
public final class VerificationKey: Sendable {
    /// The algorithm of the signatures.
    public let algorithm: SignatureAlgorithm
    /// The values of the key, which were checked.
    public let publicKey: PublicKey
    private let handle: KeyHandle

    /// Checks a key, whose type and curve must match the algorithm.
    public init(
        _ publicKey: PublicKey, algorithm: SignatureAlgorithm
    ) throws(CryptographyError) {
        guard algorithm.fits(publicKey) else { throw .otherAlgorithm }
        handle = try publicKey.checked()
        self.algorithm = algorithm
        self.publicKey = publicKey
    }

    /// Loads a key that was checked before and cannot have changed since.
    ///
    /// For an RSA key, OpenSSL's check is a primality test: it takes up to 300 times as long as the
    /// verification of a signature, so its duration would reveal that such a key exists.
    public init(
        alreadyChecked publicKey: PublicKey, algorithm: SignatureAlgorithm
    ) throws(CryptographyError) {
        guard algorithm.fits(publicKey) else { throw .otherAlgorithm }
        handle = try publicKey.loaded()
        self.algorithm = algorithm
        self.publicKey = publicKey
    }

    deinit {
        if case .ellipticCurve(let curve, _) = publicKey { SpareKeys.on(curve).giveBack(handle) }
    }

    /// Whether `signature` was made over `message` by the owner of the private key.
    ///
    /// ECDSA signatures are in DER. A signature is not an identifier: if (r, s) is valid, so is
    /// (r, n − s).
    ///
    /// - Throws: ``CryptographyFailure`` if OpenSSL cannot start the verification.
    public func isValid(
        _ signature: Span<UInt8>, of message: Span<UInt8>
    ) throws(CryptographyFailure) -> Bool {
        try isValid(signature, of: message, algorithm.digestName)
    }

    /// Whether `signature` is valid with RSA and SHA-1, which is weak: no decision may rely on the
    /// result.
    ///
    /// - Parameter digestName: the digest; only a test passes a digest other than SHA-1.
    /// - Returns: `nil` if OpenSSL refuses to verify such signatures, as it does where the system's
    ///   policy forbids SHA-1.
    package func isValidWithSHA1(
        _ signature: Span<UInt8>, of message: Span<UInt8>, digestName: StaticString = "SHA1"
    ) -> Bool? {
        guard algorithm == .rs256 else { return false }
        do { return try isValid(signature, of: message, digestName) } catch { return nil }
    }

    private func isValid(
        _ signature: Span<UInt8>, of message: Span<UInt8>, _ digestName: StaticString?
    ) throws(CryptographyFailure) -> Bool {
        defer { ERR_clear_error() }
        guard let context = unsafe EVP_MD_CTX_new() else { throw CryptographyFailure(.verify) }
        defer { unsafe EVP_MD_CTX_free(context) }
        let hasBegun = unsafe handle.withKey { key in
            unsafe EVP_DigestVerifyInit_ex(
                context, nil, digestName.map { unsafe cString($0) }, nil, nil, key, nil)
                == 1
        }
        guard hasBegun else { throw CryptographyFailure(.verify) }
        return unsafe signature.withUnsafeBufferPointer { signature in
            unsafe message.withUnsafeBufferPointer { message in
                // Only 1 means that the signature is valid; 0 and −1 both mean that it is not.
                unsafe EVP_DigestVerify(
                    context, signature.baseAddress, signature.count, message.baseAddress,
                    message.count) == 1
            }
        }
    }
}

extension SignatureAlgorithm {
    /// Whether the key is of the algorithm's type and on its curve.
    fileprivate func fits(_ publicKey: PublicKey) -> Bool {
        switch publicKey {
        case .ellipticCurve(let curve, _): curve == self.curve
        case .rsa: self == .rs256
        case .ed25519: self == .ed25519
        }
    }

    /// The hash function; `nil` for Ed25519, which has its own.
    fileprivate var digestName: StaticString? {
        switch self {
        case .es256, .rs256: "SHA2-256"
        case .es384: "SHA2-384"
        case .es512: "SHA2-512"
        case .ed25519: nil
        }
    }
}

/// The DER encoding of an ECDSA signature (RFC 3279, section 2.2.3).
///
/// - Parameters:
///   - r: the first number, big-endian.
///   - s: the second number, big-endian.
public func ecdsaSignature(r: Span<UInt8>, s: Span<UInt8>) -> [UInt8] {
    guard let signature = unsafe ECDSA_SIG_new() else { endProcess(after: .sign) }
    defer { unsafe ECDSA_SIG_free(signature) }
    guard let first = BigNumber(r), let second = BigNumber(s) else { endProcess(after: .sign) }
    // The signature owns the copies.
    let (ownR, ownS) = unsafe (BN_dup(first.number), BN_dup(second.number))
    let isSet = unsafe ECDSA_SIG_set0(signature, ownR, ownS) == 1
    require(isSet, .sign)
    let count = unsafe i2d_ECDSA_SIG(signature, nil)
    require(count > 0, .sign)
    var encoded = [UInt8](repeating: 0, count: Int(count))
    let written = unsafe encoded.withUnsafeMutableBufferPointer { buffer in
        var next = buffer.baseAddress
        return unsafe i2d_ECDSA_SIG(signature, &next)
    }
    require(written == count, .sign)
    return encoded
}
