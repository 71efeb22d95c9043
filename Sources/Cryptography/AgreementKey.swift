internal import COpenSSL

/// A key pair for X25519 (RFC 7748): whoever knows the public half can agree on a secret with the owner
/// of the private one.
public struct AgreementKey: Sendable {
    /// How many bytes a private half, a public half and the secret agreed on have.
    public static let count = 32

    /// The private half.
    public let secret: SecretBytes
    /// The public half.
    public let publicKey: [UInt8]

    /// Makes a new pair.
    public static func make() throws(CryptographyFailure) -> AgreementKey {
        try AgreementKey(Randomness.secret(count: count))
    }

    /// Takes a private half of 32 random bytes and computes the public one.
    public init(_ secret: SecretBytes) throws(CryptographyFailure) {
        precondition(secret.count == Self.count, "a private half has 32 bytes")
        let key = try PrivateHalf(secret)
        self.secret = secret
        publicKey = try key.publicKey()
    }

    /// The secret that this private half and `publicKey` give; its other owner finds the same.
    ///
    /// It is not uniformly distributed: derive keys from it, bound to both public halves.
    ///
    /// - Throws: ``KeyAgreementError/weakPublicKey`` for a public half that would give the same secret
    ///   with every private one (RFC 7748, section 6.1).
    public func agreedSecret(with publicKey: Span<UInt8>) throws(KeyAgreementError) -> SecretBytes {
        precondition(publicKey.count == Self.count, "a public half has 32 bytes")
        let key: PrivateHalf
        do { key = try PrivateHalf(secret) } catch { throw .failed(error) }
        return try key.agreedSecret(with: publicKey)
    }
}

/// Why there is no secret to agree on.
public enum KeyAgreementError: Error, Hashable, Sendable {
    /// The public half is a point of small order.
    case weakPublicKey
    /// OpenSSL could not do its work.
    case failed(CryptographyFailure)
}

/// OpenSSL's private key.
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

    func agreedSecret(with publicKey: Span<UInt8>) throws(KeyAgreementError) -> SecretBytes {
        let made = unsafe publicKey.withUnsafeBufferPointer { bytes in
            unsafe EVP_PKEY_new_raw_public_key_ex(
                nil, "X25519", nil, bytes.baseAddress, bytes.count)
        }
        guard let peer = unsafe made else { throw .failed(CryptographyFailure(.agreement)) }
        defer { unsafe EVP_PKEY_free(peer) }
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, handle, nil) else {
            throw .failed(CryptographyFailure(.agreement))
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        guard unsafe EVP_PKEY_derive_init(context) == 1,
            unsafe EVP_PKEY_derive_set_peer(context, peer) == 1
        else { throw .failed(CryptographyFailure(.agreement)) }
        return try unsafe SecretBytes(count: AgreementKey.count) {
            output throws(KeyAgreementError) in
            var written = output.count
            // OpenSSL refuses a secret of zeros, which only points of small order give.
            guard unsafe EVP_PKEY_derive(context, output.baseAddress, &written) == 1,
                written == output.count
            else {
                ERR_clear_error()
                throw .weakPublicKey
            }
        }
    }

    deinit { unsafe EVP_PKEY_free(handle) }
}
