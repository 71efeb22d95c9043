internal import WatchwordSystem

/// The exclusive right to sign in with a vault's enrolled secrets; the kernel releases it when the
/// process dies.
///
/// Two concurrent sign-ins would each present a secret that the response to the other one replaces,
/// and the server would treat it as stolen. Other changes to the vault are not blocked.
public struct LoginLock: ~Copyable, Sendable {
    private let lock: FileLock

    fileprivate init(_ lock: consuming FileLock) { self.lock = lock }

    /// Releases the lock; so does `deinit`.
    public consuming func end() {}
}

extension UnlockedVault {
    /// Acquires the lock, then reads the vault again.
    ///
    /// - Parameter timeout: how long to wait while another process signs in.
    /// - Throws: ``VaultError/busy`` if the other process does not finish in time.
    public func takeLoginLock(timeout: Duration = .seconds(30)) throws(VaultError) -> LoginLock {
        guard !isReadOnly else { throw .openedReadOnly }
        let turn = LoginLock(try lockForLogin(timeout: timeout))
        // Every decision must take into account what the other process changed.
        try update { (_) throws(VaultError) in }
        return turn
    }

    private func lockForLogin(timeout: Duration) throws(VaultError) -> FileLock {
        try location.lock(
            VaultLocation.loginLock, in: location.makeStateFolder(), timeout: timeout)
    }
}
