internal import POSIX

/// The right to sign in with the enrolled secrets of a vault; the kernel takes it back from a process that dies.
///
/// Two sign-ins at once would each present a secret that the other's answer retires, which a server takes
/// for a thief. Other changes to the vault go on meanwhile.
public struct LoginTurn: ~Copyable, Sendable {
    private let lock: FileLock

    fileprivate init(_ lock: consuming FileLock) { self.lock = lock }

    /// Gives the turn back; letting go of it does the same.
    public consuming func end() {}
}

extension UnlockedVault {
    /// Waits for the turn, and reads the vault as it is then.
    ///
    /// - Parameter timeout: how long to wait while another process signs in.
    /// - Throws: ``VaultError/busy`` when the other one does not get done.
    public func takeLoginTurn(timeout: Duration = .seconds(30)) throws(VaultError) -> LoginTurn {
        guard !isReadOnly else { throw .openedReadOnly }
        let turn = LoginTurn(try lockForLogin(timeout: timeout))
        // What the other one changed must be known before anything is decided.
        try update { (_) throws(VaultError) in }
        return turn
    }

    private func lockForLogin(timeout: Duration) throws(VaultError) -> FileLock {
        try location.lock(
            VaultLocation.loginLock, in: location.makeOwn(), timeout: timeout)
    }
}
