internal import COpenSSL

/// The only source of randomness: OpenSSL's generator, seeded by the kernel.
public enum Randomness {
    /// Generates `count` random bytes that are not secret, such as a salt, a nonce or an
    /// identifier.
    public static func bytes(count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let done = unsafe RAND_bytes(&bytes, Int32(count))
        require(done == 1, .random)
        return bytes
    }

    /// Generates `count` secret random bytes, such as a key.
    public static func secret(count: Int) -> SecretBytes {
        unsafe SecretBytes(count: count) { bytes in
            let done = unsafe RAND_priv_bytes(bytes.baseAddress, Int32(count))
            require(done == 1, .random)
        }
    }
}
