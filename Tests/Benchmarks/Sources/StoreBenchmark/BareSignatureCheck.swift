import COpenSSLAlone

/// The reference: OpenSSL's check of an ECDSA signature (P-256, SHA-256), with a key that is ready.
final class BareSignatureCheck {
    private let key: OpaquePointer

    init(point: [UInt8]) throws {
        // The SubjectPublicKeyInfo of a P-256 key before its point (RFC 5480).
        let encoded: [UInt8] =
            [0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]
            + [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00]
            + point
        let key = encoded.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            return d2i_PUBKEY(nil, &next, bytes.count)
        }
        guard let key else { throw BenchmarkError.refused }
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    func accepts(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
            && EVP_DigestVerify(
                context, signature, signature.count, message, message.count) == 1
    }
}
