internal import COpenSSL

/// OpenSSL's random generator, seeded by the kernel: the one source of chance.
public enum Randomness {
    /// Makes `count` random bytes that may be seen, such as a salt, a nonce or an identifier.
    public static func bytes(count: Int) throws(CryptographyFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard unsafe RAND_bytes(&bytes, Int32(count)) == 1 else {
            throw CryptographyFailure(.random)
        }
        return bytes
    }

    /// Makes `count` random bytes that nobody may see, such as a key.
    public static func secret(count: Int) throws(CryptographyFailure) -> SecretBytes {
        try unsafe SecretBytes(count: count) { bytes throws(CryptographyFailure) in
            guard unsafe RAND_priv_bytes(bytes.baseAddress, Int32(count)) == 1 else {
                throw CryptographyFailure(.random)
            }
        }
    }
}
