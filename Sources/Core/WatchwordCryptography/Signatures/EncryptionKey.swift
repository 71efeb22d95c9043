internal import COpenSSL

/// An RSA public key that was checked, to which secrets are encrypted.
public final class EncryptionKey: Sendable {
    private let handle: KeyHandle

    /// Checks a key.
    ///
    /// - Throws: ``CryptographyError/otherAlgorithm`` if it is not an RSA key.
    public init(_ publicKey: PublicKey) throws(CryptographyError) {
        guard case .rsa = publicKey else { throw .otherAlgorithm }
        handle = try publicKey.checked()
    }

    /// Encrypts a secret with OAEP and SHA-256 (RFC 8017, section 7.1).
    public func encrypt(
        _ secret: SecretBytes, label: Span<UInt8>
    ) throws(CryptographyFailure) -> [UInt8] {
        guard
            let context = unsafe handle.withKey({ unsafe EVP_PKEY_CTX_new_from_pkey(nil, $0, nil) }
            ),
            let copy = unsafe CRYPTO_malloc(max(label.count, 1), "EncryptionKey", 0)
        else { throw CryptographyFailure(.encrypt) }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        unsafe label.withUnsafeBytes { label in
            unsafe UnsafeMutableRawBufferPointer(start: copy, count: label.count)
                .copyMemory(from: label)
        }
        guard unsafe EVP_PKEY_encrypt_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) == 1,
            unsafe EVP_PKEY_CTX_set_rsa_oaep_md(context, EVP_sha256()) == 1,
            unsafe EVP_PKEY_CTX_set_rsa_mgf1_md(context, EVP_sha256()) == 1,
            // The context takes ownership of the copy.
            unsafe EVP_PKEY_CTX_set0_rsa_oaep_label(context, copy, Int32(label.count)) == 1
        else { throw CryptographyFailure(.encrypt) }
        var encrypted = [UInt8](repeating: 0, count: 512)
        var count = encrypted.count
        let isEncrypted = secret.withBytes { secret in
            unsafe secret.withUnsafeBufferPointer { secret in
                unsafe EVP_PKEY_encrypt(
                    context, &encrypted, &count, secret.baseAddress, secret.count) == 1
            }
        }
        guard isEncrypted else { throw CryptographyFailure(.encrypt) }
        return Array(encrypted.prefix(count))
    }
}
