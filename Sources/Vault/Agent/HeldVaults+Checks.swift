internal import OneTimePassword
internal import SecretVault
internal import Synchronization
internal import VaultService
internal import WatchwordCryptography

// The later uses that a presence check allows, as long as its vault is held.
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

    /// Keeps the credential that a client needs to show the next codes of an entry, as long as the
    /// vault is held and at most for its idle time.
    ///
    /// If there are too many, the oldest credential is dropped.
    ///
    /// - Returns: the number of the credential; `nil` if the vault has been locked.
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

    /// Drops the credential with this number.
    func forgetCredential(_ number: UInt64, of place: VaultPlace) {
        state.withLock { state in state.vaults[place]?.shown[number] = nil }
    }
}

/// The presence checks that succeeded since a vault was unlocked, and that may be reused.
struct PassedChecks {
    private struct Passed {
        /// The access control and the last edit when presence was checked; a change ends the reuse.
        let access: AccessControl
        let edited: EntryEdit
        let presence: DeviceKeyTranscript.Presence
        /// The time of the check on the boot clock.
        let time: Duration
    }

    private var passed: [RecordID: Passed] = [:]
    /// The maximum number of checks that are kept, because entries can be added and removed any
    /// number of times.
    private static let most = 1000

    /// Records that a check for `entry` has just succeeded.
    mutating func record(
        _ entry: EntrySummary, _ presence: DeviceKeyTranscript.Presence, at moment: Duration
    ) {
        guard entry.accessControl.reuse != .none else {
            passed[entry.id] = nil
            return
        }
        if passed.count >= Self.most {
            passed = passed.filter { moment - $0.value.time < .seconds(ReuseTime.range.upperBound) }
            if passed.count >= Self.most { passed = [:] }
        }
        passed[entry.id] = Passed(
            access: entry.accessControl, edited: entry.edited, presence: presence, time: moment)
    }

    /// How presence was last checked, if that check may be reused for `entry`.
    ///
    /// A reuse does not extend the time.
    func reusable(
        for entry: EntrySummary, at moment: Duration
    ) -> DeviceKeyTranscript.Presence? {
        guard let last = passed[entry.id], entry.tombstone == nil,
            last.access == entry.accessControl, last.edited == entry.edited
        else { return nil }
        let age = moment - last.time
        guard age >= .zero, age < .seconds(entry.accessControl.reuse.seconds) else { return nil }
        return last.presence
    }
}
