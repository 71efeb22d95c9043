/// A row as it must be stored after a restore from a backup.
public struct RestoredRow: Hashable, Sendable {
    /// The next version of the row.
    public let row: CredentialRow
    /// The event to record: the credential was revoked, or was restored and stays active.
    public let event: Event
    /// Whether the credential was revoked.
    public var isEnded: Bool { row.state == .revoked }
}

extension CredentialRow {
    /// The row as it must be stored when its backup replaces a lost database.
    ///
    /// The codes spent between the backup and `now` are unknown, so all of them are refused. TOTP
    /// credentials stay active: every step that could have been accepted by now counts as spent,
    /// however far the clock has drifted since the backup. That is up to 21 steps ahead of the
    /// clock, usually ten and a half minutes. Passkeys and device keys also stay active, because
    /// nothing in them is spent: a challenge is good for one decision, and the restore deletes all
    /// challenges. A passkey's open step-up, and the open logins of both, are closed.
    ///
    /// For HOTP credentials, recovery codes and enrolled secrets, nothing limits what may have been
    /// spent since the backup, so they are revoked and must be enrolled again. Unconfirmed
    /// enrolments are also revoked. Credentials that had already ended stay unchanged.
    ///
    /// This method cannot tell whether a credential was revoked or disabled after the backup. The
    /// caller passes this in `hasEnded`.
    ///
    /// - Parameter hasEnded: whether the credential is known to have ended since the backup.
    /// - Returns: `nil` if the row stays unchanged.
    /// - Throws: ``VerifierError/damagedRow``.
    public func afterRestoring(
        at now: UnixTime, hasEnded: Bool = false
    ) throws(VerifierError) -> RestoredRow? {
        guard state == .active || state == .pending else { return nil }
        var record = try CredentialRecord(self)
        if state == .active, !hasEnded, let material = record.material.afterRestoring(at: now) {
            record.material = material
            return RestoredRow(
                row: record.row,
                event: Event(.restored, time: now, subject: subject, credential: id))
        }
        record.end(as: .revoked, because: .restored, at: now)
        // The credential may have been confirmed since the backup, so its key must not be enrolled
        // again, and the row must not be pruned.
        if kind != .recovery {
            record.fingerprint = fingerprint
            record.lapsesAt = nil
        }
        return RestoredRow(
            row: record.row,
            event: Event(
                .revoked, reason: .restored, time: now, subject: subject, credential: id))
    }
}

extension CredentialRecord.Material {
    /// The material without anything that may have been spent by `now`; `nil` if nothing limits what
    /// may have been spent.
    fileprivate func afterRestoring(at now: UnixTime) -> CredentialRecord.Material? {
        switch self {
        case .time(var password):
            password.spendAllPossibleSteps(by: now)
            return .time(password)
        case .passkey(var passkey):
            passkey.closeAll()
            return .passkey(passkey)
        case .deviceKey(var key):
            key.closeAll()
            return .deviceKey(key)
        case .counter, .recovery, .secret, .pendingPasskey, .pendingDeviceKey, .none: return nil
        }
    }
}
