internal import OneTimePassword
internal import SecretVault
internal import Synchronization
internal import VaultService
internal import WatchwordCryptography

// What a presence check allows later, as long as its vault is held.
extension HeldVaults {
    /// Records that a presence check for `entry` has just succeeded, and how it was made.
    func recordCheck(
        of entry: EntrySummary, _ presence: DeviceKeyTranscript.Presence, in place: VaultPlace,
        _ unlocking: UInt64
    ) {
        let now = clock()
        state.withLock { state in
            guard state.vaults[place]?.unlocking == unlocking else { return }
            state.vaults[place]?.checks.record(entry, presence, at: now.sinceBoot)
        }
    }

    /// How presence was checked since `unlocking`, if that check may be reused for `entry`.
    func reusableCheck(
        for entry: EntrySummary, in place: VaultPlace, _ unlocking: UInt64
    ) -> DeviceKeyTranscript.Presence? {
        let now = clock()
        return state.withLock { state in
            state.drop(at: now)
            guard let held = state.vaults[place], held.unlocking == unlocking else { return nil }
            return held.checks.reusable(for: entry, at: now.sinceBoot)
        }
    }

    /// The number of credentials that are kept with a vault for clients that show codes.
    static let mostShown = 64

    /// Keeps what a client needs to show the next codes of an entry, as long as the vault is held
    /// and at most for its idle time, in place of the oldest if there are too many.
    ///
    /// - Returns: its number; `nil` if the vault has been locked.
    func keep(
        _ credential: Credential, of place: VaultPlace, _ unlocking: UInt64
    ) -> UInt64? {
        let now = clock()
        return state.withLock { state in
            state.drop(at: now)
            guard let held = state.vaults[place], held.unlocking == unlocking else { return nil }
            state.shown += 1
            let number = state.shown
            if held.shown.count >= HeldVaults.mostShown, let oldest = held.shown.keys.min() {
                state.vaults[place]?.shown[oldest] = nil
            }
            state.vaults[place]?.shown[number] = ShownCredential(
                credential: credential, end: now.sinceBoot + held.time.idle)
            return number
        }
    }

    /// The credential with this number; `nil` if its time is over or the vault has been locked.
    func shownCredential(_ number: UInt64, of place: VaultPlace) -> Credential? {
        let now = clock()
        return state.withLock { state in
            state.drop(at: now)
            return state.vaults[place]?.shown[number]?.credential
        }
    }

    /// Forgets the credential with this number.
    func forgetCredential(_ number: UInt64, of place: VaultPlace) {
        state.withLock { state in state.vaults[place]?.shown[number] = nil }
    }
}
