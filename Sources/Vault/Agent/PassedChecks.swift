internal import SecretVault
internal import WatchwordCryptography

/// The presence checks that succeeded since a vault was unlocked, and that may be reused.
struct PassedChecks {
    private struct Passed {
        /// The access control and the last edit when presence was checked; a change ends the reuse.
        let access: AccessControl
        let edited: EntryEdit
        /// How presence was checked.
        let presence: DeviceKeyTranscript.Presence
        /// On the boot clock.
        let time: Duration
    }

    private var passed: [RecordID: Passed] = [:]
    /// The number of checks that are kept: entries can be added and removed without end.
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

    /// How presence was checked the last time, if that check may be reused for `entry`.
    ///
    /// Reusing it does not extend the time.
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
