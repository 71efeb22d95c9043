internal import Cryptography
internal import Synchronization

/// Hashes recovery codes one after the other, so that guessers who send many keep one processor core
/// busy at most, and one mebibyte of memory.
final class RecoveryHashing: Sendable {
    private actor Queue {
        func hash(
            _ code: SecretBytes, salt: [UInt8], cost: ScryptCost
        ) throws(CryptographyFailure) -> SecretBytes {
            try scrypt(passphrase: code, salt: salt.span, cost: cost, count: RecoverySet.hashCount)
        }
    }

    private let queue = Queue()
    private let waiting = Atomic<Int>(0)
    private let limit: Int

    /// - Parameter limit: so many are hashed or wait for it, further ones are turned away.
    init(limit: Int = 64) { self.limit = limit }

    /// The hash of a code.
    ///
    /// - Throws: ``VerifierError/overloaded`` when too many wait.
    func hash(
        _ code: SecretBytes, salt: [UInt8], logN: Int, meter: WorkMeter?
    ) async throws(VerifierError) -> SecretBytes {
        let count = waiting.add(1, ordering: .relaxed).newValue
        defer { waiting.subtract(1, ordering: .relaxed) }
        guard count <= limit else { throw .overloaded }
        let cost: ScryptCost
        do throws(ScryptCostError) { cost = try ScryptCost(logN: logN) } catch { throw .damagedRow }
        meter?.count(.hashes)
        do throws(CryptographyFailure) {
            return try await queue.hash(code, salt: salt, cost: cost)
        } catch { throw .cryptography(error) }
    }
}
