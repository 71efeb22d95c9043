internal import Synchronization
internal import WatchwordCryptography

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
    /// The number of codes of each client that are being hashed or waiting.
    private let waiting = Mutex<[ClientID?: Int]>([:])
    private let limit: Int

    /// - Parameter limit: the maximum number of codes that are being hashed or waiting, half of them
    ///   from one client; any more are refused.
    init(limit: Int = 64) { self.limit = limit }

    /// Hashes a code.
    ///
    /// - Throws: ``VerifierError/overloaded`` if too many codes are waiting.
    func hash(
        _ code: SecretBytes, salt: [UInt8], logN: Int, for client: ClientID?, meter: WorkMeter?
    ) async throws(VerifierError) -> SecretBytes {
        guard enter(client) else { throw .overloaded }
        defer { leave(client) }
        let cost: ScryptCost
        do throws(CryptographyError) { cost = try ScryptCost(logN: logN) } catch {
            throw .damagedRow
        }
        meter?.count(.hashes)
        do throws(CryptographyFailure) {
            return try await queue.hash(code, salt: salt, cost: cost)
        } catch { throw .cryptography(error) }
    }

    /// Counts another code of this client; `false` if there are too many.
    func enter(_ client: ClientID?) -> Bool {
        waiting.withLock { waiting in
            let own = waiting[client] ?? 0
            guard own < (limit + 1) / 2, waiting.values.reduce(0, +) < limit else { return false }
            waiting[client] = own + 1
            return true
        }
    }

    private func leave(_ client: ClientID?) {
        waiting.withLock { waiting in
            let others = (waiting[client] ?? 1) - 1
            waiting[client] = others > 0 ? others : nil
        }
    }
}
