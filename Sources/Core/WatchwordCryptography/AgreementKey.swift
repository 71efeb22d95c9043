internal import COpenSSL

/// An X25519 key pair (RFC 7748).
///
/// Anyone with the public key can agree on a secret with the owner of the private key.
public struct AgreementKey: Sendable {
    /// The length in bytes of a private key, a public key and a shared secret.
    public static let count = 32

    /// The private key, 32 bytes.
    public let secret: SecretBytes
    /// The public key, 32 bytes.
    public let publicKey: [UInt8]

    /// Generates a key pair.
    public static func make() throws(CryptographyFailure) -> AgreementKey {
        try AgreementKey(Randomness.secret(count: count))
    }

    /// Uses a private key of 32 random bytes and computes its public key.
    public init(_ secret: SecretBytes) throws(CryptographyFailure) {
        precondition(secret.count == Self.count, "a private key has 32 bytes")
        let key = try PrivateHalf(secret)
        self.secret = secret
        publicKey = try key.publicKey()
    }

    /// The shared secret of this private key and `publicKey`.
    ///
    /// Both sides compute the same secret.
    ///
    /// It is not uniformly distributed: derive keys from it, bound to both public keys.
    ///
    /// - Throws: ``CryptographyError/smallOrder`` for a public key that produces the same secret
    ///   with every private key (RFC 7748, section 6.1).
    public func agreedSecret(with publicKey: Span<UInt8>) throws(CryptographyError) -> SecretBytes {
        precondition(publicKey.count == Self.count, "a public key has 32 bytes")
        let key: PrivateHalf
        do { key = try PrivateHalf(secret) } catch { throw .failed(error) }
        return try key.agreedSecret(with: publicKey)
    }
}

/// OpenSSL's handle of the private key.
@safe private struct PrivateHalf: ~Copyable {
    private let handle: OpaquePointer

    init(_ secret: SecretBytes) throws(CryptographyFailure) {
        let made = unsafe secret.withBytes { bytes in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe EVP_PKEY_new_raw_private_key_ex(
                    nil, "X25519", nil, bytes.baseAddress, bytes.count)
            }
        }
        guard let made = unsafe made else { throw CryptographyFailure(.agreement) }
        unsafe handle = made
    }

    func publicKey() throws(CryptographyFailure) -> [UInt8] {
        var key = [UInt8](repeating: 0, count: AgreementKey.count)
        var count = key.count
        guard unsafe EVP_PKEY_get_raw_public_key(handle, &key, &count) == 1, count == key.count
        else { throw CryptographyFailure(.agreement) }
        return key
    }

    func agreedSecret(with publicKey: Span<UInt8>) throws(CryptographyError) -> SecretBytes {
        let made = unsafe publicKey.withUnsafeBufferPointer { bytes in
            unsafe EVP_PKEY_new_raw_public_key_ex(
                nil, "X25519", nil, bytes.baseAddress, bytes.count)
        }
        guard let peer = unsafe made else { throw .failed(CryptographyFailure(.agreement)) }
        defer { unsafe EVP_PKEY_free(peer) }
        return try unsafe agreement(of: handle, with: peer, count: AgreementKey.count)
    }

    deinit { unsafe EVP_PKEY_free(handle) }
}

/// The secret of `count` bytes that OpenSSL computes from a private and a public key.
///
/// - Throws: ``CryptographyError/smallOrder`` if the two agree on no secret.
func agreement(
    of privateKey: OpaquePointer, with publicKey: OpaquePointer, count: Int
) throws(CryptographyError) -> SecretBytes {
    guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, privateKey, nil) else {
        throw .failed(CryptographyFailure(.agreement))
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    guard unsafe EVP_PKEY_derive_init(context) == 1,
        unsafe EVP_PKEY_derive_set_peer(context, publicKey) == 1
    else { throw .failed(CryptographyFailure(.agreement)) }
    return try unsafe SecretBytes(count: count) { output throws(CryptographyError) in
        var written = output.count
        // OpenSSL refuses an all-zero secret, which only points of small order produce.
        guard unsafe EVP_PKEY_derive(context, output.baseAddress, &written) == 1,
            written == output.count
        else {
            ERR_clear_error()
            throw .smallOrder
        }
    }
}

/// A public key on P-256 that was checked and is used to agree on a secret with its owner.
public final class AgreementPoint: Sendable {
    /// The point in its uncompressed form: a byte 4, x and y.
    public let point: [UInt8]
    fileprivate let handle: KeyHandle

    /// Checks a key.
    ///
    /// - Throws: ``CryptographyError/otherAlgorithm`` if it is not on P-256.
    public init(_ publicKey: PublicKey) throws(CryptographyError) {
        guard case .ellipticCurve(.p256, let point) = publicKey else { throw .otherAlgorithm }
        self.point = point
        handle = try publicKey.checked()
    }
}

/// A key pair on P-256 for agreeing on a single secret (NIST SP 800-56A, section 5.7.1.2).
public struct EphemeralKey: Sendable {
    private let pair: SigningKey

    /// Generates a key pair.
    public static func make() throws(CryptographyFailure) -> EphemeralKey {
        EphemeralKey(pair: try SigningKey.make())
    }

    private init(pair: SigningKey) { self.pair = pair }

    /// Uses a known private scalar, for test vectors.
    package init(scalar: SecretBytes) throws(CryptographyError) {
        pair = try SigningKey(scalar: scalar)
    }

    /// The public point in its uncompressed form: a byte 4, x and y.
    public var point: [UInt8] { pair.point }

    /// The shared secret: the 32 bytes of an x-coordinate, which are not uniformly distributed.
    public func agreedSecret(
        with other: AgreementPoint
    ) throws(CryptographyFailure) -> SecretBytes {
        do throws(CryptographyError) {
            return try unsafe pair.handle.withKey { own throws(CryptographyError) in
                try unsafe other.handle.withKey { other throws(CryptographyError) in
                    try unsafe agreement(
                        of: own, with: other, count: EllipticCurve.p256.coordinateCount)
                }
            }
        } catch {
            guard case .failed(let failure) = error else {
                // The order of the curve is prime, and the point was checked.
                throw CryptographyFailure(call: .agreement, code: 0)
            }
            throw failure
        }
    }
}
