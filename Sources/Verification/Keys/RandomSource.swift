public import Cryptography

/// Where random bytes come from, so that a test can know them.
public struct RandomSource: Sendable {
    /// Makes so many random bytes that may be seen.
    public let bytes: @Sendable (Int) throws(CryptographyFailure) -> [UInt8]
    /// Makes so many random bytes that nobody may see.
    public let secret: @Sendable (Int) throws(CryptographyFailure) -> SecretBytes

    /// OpenSSL's generator.
    public static let system = RandomSource(
        bytes: { count throws(CryptographyFailure) in try Randomness.bytes(count: count) },
        secret: { count throws(CryptographyFailure) in try Randomness.secret(count: count) })

    /// Takes both closures.
    public init(
        bytes: @escaping @Sendable (Int) throws(CryptographyFailure) -> [UInt8],
        secret: @escaping @Sendable (Int) throws(CryptographyFailure) -> SecretBytes
    ) {
        self.bytes = bytes
        self.secret = secret
    }
}
