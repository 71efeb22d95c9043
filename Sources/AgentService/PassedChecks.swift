internal import SecretVault

/// The presence checks that succeeded since a vault was unlocked, and that may be reused.
struct PassedChecks {
    private struct Passed {
        /// The access control and the last edit when presence was checked; a change ends the reuse.
        let access: AccessControl
        let edited: EntryEdit
        /// On the boot clock.
        let time: Duration
    }

    private var passed: [RecordID: Passed] = [:]

    /// Records that a check for `entry` has just succeeded.
    mutating func record(_ entry: EntrySummary, at moment: Duration) {
        guard entry.accessControl.reuse != .none else {
            passed[entry.id] = nil
            return
        }
        passed[entry.id] = Passed(
            access: entry.accessControl, edited: entry.edited, time: moment)
    }

    /// Whether the last check for `entry` may be reused.
    ///
    /// Reusing it does not extend the time.
    func cover(_ entry: EntrySummary, at moment: Duration) -> Bool {
        guard let last = passed[entry.id], entry.tombstone == nil,
            last.access == entry.accessControl, last.edited == entry.edited
        else { return false }
        let age = moment - last.time
        return age >= .zero && age < .seconds(entry.accessControl.reuse.seconds)
    }
}
