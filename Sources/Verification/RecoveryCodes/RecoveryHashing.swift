internal import Cryptography
internal import Synchronization

/// Hashes recovery codes one at a time, so that an attacker who sends many of them uses at most one
/// processor core and one mebibyte of memory.
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

    /// - Parameter limit: the maximum number of codes that are being hashed or waiting; any more
    ///   are refused.
    init(limit: Int = 64) { self.limit = limit }

    /// Hashes a code.
    ///
    /// - Throws: ``VerifierError/overloaded`` if too many codes are waiting.
    func hash(
        _ code: SecretBytes, salt: [UInt8], logN: Int, meter: WorkMeter?
    ) async throws(VerifierError) -> SecretBytes {
        let count = waiting.add(1, ordering: .relaxed).newValue
        defer { waiting.subtract(1, ordering: .relaxed) }
        guard count <= limit else { throw .overloaded }
        let cost: ScryptCost
        do throws(CryptographyError) { cost = try ScryptCost(logN: logN) } catch {
            throw .damagedRow
        }
        meter?.count(.hashes)
        do throws(CryptographyFailure) {
            return try await queue.hash(code, salt: salt, cost: cost)
        } catch { throw .cryptography(error) }
    }
}
