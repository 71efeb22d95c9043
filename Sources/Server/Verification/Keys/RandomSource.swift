public import WatchwordCryptography

/// The source of random bytes, which tests can replace.
public struct RandomSource: Sendable {
    /// Generates random bytes that are not secret.
    public let bytes: @Sendable (Int) -> [UInt8]
    /// Generates random bytes that are secret.
    public let secret: @Sendable (Int) -> SecretBytes

    /// OpenSSL's generator.
    public static let system = RandomSource(
        bytes: Randomness.bytes, secret: Randomness.secret)

    /// Creates a source from two closures.
    public init(
        bytes: @escaping @Sendable (Int) -> [UInt8],
        secret: @escaping @Sendable (Int) -> SecretBytes
    ) {
        self.bytes = bytes
        self.secret = secret
    }
}
