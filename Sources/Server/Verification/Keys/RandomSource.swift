public import WatchwordCryptography

/// The source of random bytes, which tests can replace.
public struct RandomSource: Sendable {
    /// Generates random bytes that are not secret.
    public let bytes: @Sendable (Int) throws(CryptographyFailure) -> [UInt8]
    /// Generates random bytes that are secret.
    public let secret: @Sendable (Int) throws(CryptographyFailure) -> SecretBytes

    /// OpenSSL's generator.
    public static let system = RandomSource(
        bytes: { count throws(CryptographyFailure) in try Randomness.bytes(count: count) },
        secret: { count throws(CryptographyFailure) in try Randomness.secret(count: count) })

    /// Creates a source from two closures.
    public init(
        bytes: @escaping @Sendable (Int) throws(CryptographyFailure) -> [UInt8],
        secret: @escaping @Sendable (Int) throws(CryptographyFailure) -> SecretBytes
    ) {
        self.bytes = bytes
        self.secret = secret
    }
}
