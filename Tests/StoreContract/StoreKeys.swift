public import Verification
internal import WatchwordCryptography

/// Keys that are the same in every process of a test.
public enum StoreKeys {
    /// A key ring with one version made of known bytes.
    public static let known: KeyRing = {
        let source = RandomSource(
            bytes: { count in sampleBytes(1, count: count) },
            secret: { count in
                SecretBytes(copying: sampleBytes(2, count: count).span)
            })
        do {
            return try KeyRing.make(randomness: source)
        } catch {
            preconditionFailure("invalid key ring")
        }
    }()
}
