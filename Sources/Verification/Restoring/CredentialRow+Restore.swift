/// A row as it stands after its database came from a backup.
public struct RestoredRow: Hashable, Sendable {
    /// The row's next version.
    public let row: CredentialRow
    /// That the credential ended, or goes on with nothing to be accepted of what came before.
    public let event: Event
    /// Whether it ended.
    public var isEnded: Bool { row.state == .revoked }
}

extension CredentialRow {
    /// The row as it must stand when a backup that holds it takes the place of a lost database.
    ///
    /// What was spent between the backup and `now` is not known, so all of it is refused. Codes by
    /// time go on: every step that could have been accepted by now counts as spent, whatever the drift
    /// came to since: up to 21 steps ahead of the clock, ten and a half minutes as a rule.
    /// Codes by count, recovery codes and enrolled secrets do not show how old they are, so their
    /// credentials end and are enrolled anew, and so do enrolments that were not confirmed. What had
    /// ended stays as it is.
    ///
    /// That a credential was revoked or failed too often since the backup can't be seen here: whoever
    /// knows says so.
    ///
    /// - Parameter hasEnded: whether it is known to have ended since the backup.
    /// - Returns: nothing when the row stays as it is.
    /// - Throws: ``VerifierError/damagedRow``.
    public func afterRestoring(
        at now: UnixTime, hasEnded: Bool = false
    ) throws(VerifierError) -> RestoredRow? {
        guard state == .active || state == .pending else { return nil }
        var record = try CredentialRecord(self)
        if state == .active, !hasEnded, case .time(var password) = record.material {
            password.spendAllThatCouldBe(by: now)
            record.material = .time(password)
            return RestoredRow(
                row: record.row,
                event: Event(.restored, time: now, subject: subject, credential: id))
        }
        record.end(as: .revoked, because: .restored, at: now)
        // It may have been confirmed since, and then its key must not come back.
        if kind != .recovery { record.fingerprint = fingerprint }
        return RestoredRow(
            row: record.row,
            event: Event(
                .revoked, reason: .restored, time: now, subject: subject, credential: id))
    }
}
