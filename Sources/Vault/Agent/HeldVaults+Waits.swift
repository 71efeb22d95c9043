internal import Synchronization
internal import VaultService
internal import WatchwordSystem

// A request that waits for a person or a server still has the key of its vault.
extension HeldVaults {
    /// Runs `body`, which waits for the program at the other end of `connection`.
    ///
    /// If the vault is locked meanwhile, the connection is shut down, so that the wait ends and the
    /// key is released.
    ///
    /// - Returns: `nil` if the vault is no longer held since this unlocking; `body` does not run
    ///   then.
    func waiting<Result, Failure: Error>(
        for connection: borrowing FileDescriptor, in place: VaultPlace, _ unlocking: UInt64,
        _ body: () throws(Failure) -> Result, otherwise: (SystemCallFailure) -> Failure
    ) throws(Failure) -> Result? {
        let shared: SharedDescriptor
        do { shared = SharedDescriptor(try connection.duplicate()) } catch {
            throw otherwise(error)
        }
        let now = clock()
        let number: UInt64? = state.withLock { state in
            state.drop(at: now)
            guard state.vaults[place]?.unlocking == unlocking else { return nil }
            state.lastWait += 1
            state.waits[state.lastWait] = Wait(
                place: place, unlocking: unlocking, connection: shared)
            return state.lastWait
        }
        guard let number else { return nil }
        defer { state.withLock { $0.waits[number] = nil } }
        return try body()
    }
}

// The checks that wait for a person.
extension HeldVaults {
    /// Begins a check of a user's presence, unless another one has not ended.
    ///
    /// - Returns: what the other one is for; `nil` if the check has begun.
    func beginCheck(for subject: String, of user: UInt32?) -> String? {
        state.withLock { state in
            if let other = state.asking[user] { return other }
            state.asking[user] = subject
            return nil
        }
    }

    /// Ends the check that has begun.
    func endCheck(of user: UInt32?) { state.withLock { $0.asking[user] = nil } }
}

/// A file descriptor that several threads use.
final class SharedDescriptor: Sendable {
    private let file: FileDescriptor

    init(_ file: consuming FileDescriptor) { self.file = file }

    /// Wakes whoever waits for the connection.
    func shutDown() { file.shutDown() }
}
