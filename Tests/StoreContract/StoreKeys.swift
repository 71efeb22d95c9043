internal import Cryptography
public import Verification

/// Keys that every process of a test makes the same.
public enum StoreKeys {
    /// A ring of one version that everybody knows.
    public static let known: KeyRing = {
        let source = RandomSource(
            bytes: { count throws(CryptographyFailure) in sampleBytes(1, count: count) },
            secret: { count throws(CryptographyFailure) in
                SecretBytes(copying: sampleBytes(2, count: count).span)
            })
        do {
            return try KeyRing.make(randomness: source)
        } catch {
            preconditionFailure("a ring can be made of known bytes")
        }
    }()
}
