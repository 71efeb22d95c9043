internal import WatchwordCryptography

/// Which of the keys of two files of a vault is newer.
public enum VaultKeyOrder: Hashable, Sendable {
    /// They are the same.
    case same
    /// The vault's key is newer: it was rekeyed after the other file was saved.
    case older
    /// The other file's key is newer.
    case newer
    /// Both were rekeyed separately, or by an earlier version, or so many saves ago that the files no
    /// longer show the order.
    case unknown
}

extension VaultState {
    /// The save that gave the vault its present key; `nil` if it is the first key, or if the history
    /// does not show it.
    func rekey(to key: VaultKey) throws(VaultError) -> VaultHistory.Save? {
        let id = try key.rekeySave()
        return history.saves.first { $0.id == id }
    }

    /// Whether `key`, this file's key, is newer than the key of a file with history `other`.
    fileprivate func isRekeyed(
        to key: VaultKey, since other: VaultHistory
    ) throws(VaultError) -> Bool {
        guard let rekey = try rekey(to: key) else { return false }
        return other.lacks(rekey)
    }
}

extension UnlockedVault {
    /// Which key is newer, that of `copy` or that of this vault.
    func keyOrder(of copy: VaultCopy) throws(VaultError) -> VaultKeyOrder {
        guard try !key.isEqual(to: copy.key) else { return .same }
        let isOurs = try state.isRekeyed(to: key, since: copy.state.history)
        let isTheirs = try copy.state.isRekeyed(to: copy.key, since: state.history)
        return isOurs == isTheirs ? .unknown : isOurs ? .older : .newer
    }
}
