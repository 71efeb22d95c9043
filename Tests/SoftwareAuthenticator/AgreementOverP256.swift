import COpenSSL

/// The key agreement of CTAP's PIN protocol 1, and the related functions.
@safe final class AgreementOverP256 {
    private let key: OpaquePointer

    init() {
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else {
            fatalError("no P-256")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        _ = unsafe EVP_PKEY_keygen_init(context)
        _ = unsafe EVP_PKEY_CTX_set_group_name(context, "P-256")
        guard unsafe EVP_PKEY_generate(context, &made) == 1, let key = unsafe made else {
            fatalError("no key")
        }
        unsafe self.key = key
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// The public key as a COSE key.
    var cose: CBOR {
        var (point, count) = ([UInt8](repeating: 0, count: 65), 65)
        _ = unsafe EVP_PKEY_get_octet_string_param(key, "pub", &point, 65, &count)
        return AgreementOverP256.cose(x: point[1..<33], y: point[33..<65], algorithm: -25)
    }

    static func cose(x: ArraySlice<UInt8>, y: ArraySlice<UInt8>, algorithm: Int) -> CBOR {
        .object([
            (.integer(1), .integer(2)), (.integer(3), .integer(algorithm)),
            (.integer(-1), .integer(1)), (.integer(-2), .bytes(Array(x))),
            (.integer(-3), .bytes(Array(y))),
        ])
    }

    /// The secret shared with the owner of a public key; `nil` if the public key is not on the
    /// curve.
    func shared(with other: CBOR) -> [UInt8]? {
        guard let peer = unsafe EVP_PKEY_new() else { return nil }
        defer { unsafe EVP_PKEY_free(peer) }
        let point = [4] + (other[-2]?.data ?? []) + (other[-3]?.data ?? [])
        guard unsafe EVP_PKEY_copy_parameters(peer, key) == 1,
            unsafe EVP_PKEY_set1_encoded_public_key(peer, point, point.count) == 1,
            let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil)
        else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var (secret, count) = ([UInt8](repeating: 0, count: 32), 32)
        guard unsafe EVP_PKEY_derive_init(context) == 1,
            unsafe EVP_PKEY_derive_set_peer(context, peer) == 1,
            unsafe EVP_PKEY_derive(context, &secret, &count) == 1
        else { return nil }
        return digest(secret)
    }
}

func digest(_ bytes: [UInt8]) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: 32)
    _ = unsafe SHA256(bytes, bytes.count, &result)
    return result
}

func mac(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: 32)
    _ = unsafe HMAC(
        EVP_sha256(), key, Int32(key.count), message, message.count, &result, nil)
    return result
}

/// AES-256-CBC with a zero vector and without padding, as PIN protocol 1 uses it.
func cipher(_ bytes: [UInt8], under key: [UInt8], encrypts: Bool) -> [UInt8] {
    let context = unsafe EVP_CIPHER_CTX_new()
    defer { unsafe EVP_CIPHER_CTX_free(context) }
    var (result, count) = ([UInt8](repeating: 0, count: bytes.count + 16), Int32(0))
    let vector = [UInt8](repeating: 0, count: 16)
    _ = unsafe EVP_CipherInit_ex(context, EVP_aes_256_cbc(), nil, key, vector, encrypts ? 1 : 0)
    _ = unsafe EVP_CIPHER_CTX_set_padding(context, 0)
    _ = unsafe EVP_CipherUpdate(context, &result, &count, bytes, Int32(bytes.count))
    return Array(result.prefix(Int(count)))
}
