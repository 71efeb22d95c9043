/// The cost of one scrypt derivation (RFC 7914, section 2) in memory, and in time proportionally.
public struct ScryptCost: Hashable, Sendable {
    /// The base-two logarithm of N, between 10 and 24.
    public let logN: Int
    /// The block size r.
    public let blockSize: Int
    /// The parallelisation p.
    public let parallelism: Int

    /// The cost for a new vault: N = 2^17, r = 8, p = 1, which is 128 MiB.
    public static let standard = ScryptCost(checkedLogN: 17, blockSize: 8, parallelism: 1)

    /// Sets N = 2^`logN`, r = 8 and p = 1.
    ///
    /// - Throws: ``CryptographyError/costOutOfRange(logN:)`` unless `logN` is 10 to 24.
    public init(logN: Int) throws(CryptographyError) {
        guard (10...24).contains(logN) else { throw .costOutOfRange(logN: logN) }
        self.init(checkedLogN: logN, blockSize: 8, parallelism: 1)
    }

    /// For the costs of published test vectors, which are outside the permitted range.
    init(checkedLogN logN: Int, blockSize: Int, parallelism: Int) {
        self.logN = logN
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    /// The bytes of memory that the derivation needs, as OpenSSL counts them.
    public var memoryNeeded: Int {
        let block = 128 * blockSize
        return block * parallelism + block * ((1 << logN) + 2)
    }
}
