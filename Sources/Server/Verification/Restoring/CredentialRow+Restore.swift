internal import WatchwordCryptography

/// The row that replaces a credential's row after a restore from a backup.
public struct RestoredRow: Hashable, Sendable {
    /// The next version of the row.
    public let row: CredentialRow
    /// The event to record: the credential was revoked, or was restored and stays active.
    public let event: Event
    /// Whether the credential was revoked.
    public var isEnded: Bool { row.state == .revoked }
}

extension CredentialRow {
    /// The row to store when this row's backup replaces a lost database.
    ///
    /// The codes spent between the backup and `now` are unknown, so all of them are refused. TOTP
    /// credentials stay active: every step that could have been accepted by now counts as spent,
    /// however far the clock has drifted since the backup. This includes up to 21 steps ahead of
    /// the clock, usually ten and a half minutes. Passkeys and device keys also stay active, because
    /// their use spends nothing in the row: a challenge is good for one decision, and the restore
    /// deletes all challenges. A passkey's open step-up, and the open logins of both, are closed.
    ///
    /// For HOTP credentials, recovery codes and enrolled secrets, any number of codes and secrets
    /// may have been spent since the backup, so these credentials are revoked and must be enrolled
    /// again. Unconfirmed enrolments are also revoked. Credentials that had already ended stay
    /// unchanged.
    ///
    /// This method cannot tell whether a credential was revoked or disabled after the backup. The
    /// caller passes this information in `hasEnded`.
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
    /// The material without the codes and secrets that may have been spent by `now`; `nil` if any
    /// number of them may have been spent.
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

/// The last event of each chain, used to check the clock before irreversible decisions.
public struct LastEvents: Sendable {
    private struct End: Sendable {
        let record: ChainRecord
        let last: ChainedEvent
        /// The digest to which the last event is chained.
        let previous: [UInt8]
    }

    /// The time of the newest event; `nil` if there are no events.
    public let newest: UnixTime?
    private let ends: [End]
    /// Whether all events in the records were found.
    private let areAllFound: Bool

    /// Finds the last event of each chain.
    ///
    /// - Parameter page: returns at most `limit` events after a position.
    public init<Failure: Error>(
        of chains: [ChainRecord],
        _ page: (_ position: UInt64, _ limit: Int) throws(Failure) -> [ChainedEvent]
    ) throws(Failure) {
        var ends: [End] = []
        let used = chains.filter { $0.head.sequence > $0.start.sequence }
        for record in used {
            let sequence = record.head.sequence
            func event(at position: UInt64, _ sequence: UInt64) throws(Failure) -> ChainedEvent? {
                guard position > 0 else { return nil }
                return try page(position - 1, 1).first { event in
                    event.position == position && event.node == record.head.node
                        && event.sequence == sequence
                }
            }
            guard let last = try event(at: record.headPosition, sequence) else { continue }
            var previous = record.start.sequence + 1 == sequence ? record.start.digest : nil
            // The previous event is in the same commit, at the preceding position, or it is the
            // last event of the chain's previous commit.
            for position in [last.position - 1, last.behind] where previous == nil {
                previous = try event(at: position, sequence - 1)?.digest
            }
            if let previous { ends.append(End(record: record, last: last, previous: previous)) }
        }
        self.ends = ends
        areAllFound = ends.count == used.count
        newest = ends.compactMap(\.last.event?.time).max()
    }

    /// Whether the events are authentic, including their times.
    public func areAuthentic(_ key: AuditKey) -> Bool {
        for end in ends {
            let expected = key.tying(end.last, behind: end.previous).digest
            guard end.last.event != nil, key.isAuthentic(end.record.start),
                key.isAuthentic(end.record.head),
                isEqualInConstantTime(expected.span, end.last.digest.span),
                isEqualInConstantTime(expected.span, end.record.head.digest.span)
            else { return false }
        }
        return areAllFound
    }
}

/// Walks through all rows of a store page by page, so that memory use does not depend on its size.
///
/// The store supplies the pages, in one transaction if all of them must show the same state.
public enum StoreWalk {
    /// The maximum number of rows per page.
    public static let limit = 1_000

    /// Passes all events to `take`, in order of position.
    ///
    /// - Parameter page: returns at most `limit` events after a position.
    public static func events<Failure: Error>(
        _ page: (_ position: UInt64, _ limit: Int) throws(Failure) -> [ChainedEvent],
        _ take: ([ChainedEvent]) throws(Failure) -> Void
    ) throws(Failure) {
        var position: UInt64 = 0
        while true {
            let events = try page(position, limit)
            guard let last = events.last else { return }
            try take(events)
            position = last.position
        }
    }

    /// Passes all credentials to `take`, in order of id.
    ///
    /// - Parameter page: returns at most `limit` rows, starting at an id; the id is empty for the
    ///   first page.
    public static func credentials<Failure: Error>(
        _ page: (_ id: [UInt8], _ limit: Int) throws(Failure) -> [CredentialRow],
        _ take: ([CredentialRow]) throws(Failure) -> Void
    ) throws(Failure) {
        try rows(page, key: \.id.bytes, take)
    }

    /// Passes all rows of a table to `take`, in order of key.
    ///
    /// - Parameter page: returns at most `limit` rows, starting at a key and including it. The
    ///   first page starts at the empty key, because an attacker may have written a row with that
    ///   key.
    public static func rows<Row, Failure: Error>(
        _ page: (_ key: [UInt8], _ limit: Int) throws(Failure) -> [Row], key: (Row) -> [UInt8],
        _ take: ([Row]) throws(Failure) -> Void
    ) throws(Failure) {
        var first: [UInt8] = []
        while true {
            let rows = try page(first, limit)
            guard let last = rows.last else { return }
            try take(rows)
            first = following(key(last))
        }
    }

    /// The smallest key after this key, in byte order.
    public static func following(_ key: [UInt8]) -> [UInt8] { key + [0] }
}

extension CredentialRow {
    /// Whether the credential has ended permanently.
    public var hasEnded: Bool { state == .revoked || state == .disabled }
}

extension ChainedEvent {
    /// The credential that this event ended; `nil` if the event ended none.
    public var endedCredential: CredentialID? {
        guard let event, event.kind == .revoked || event.kind == .disabled else { return nil }
        return event.credential
    }
}

extension ClientRow {
    /// The row after its revocation at `now`; `nil` if the row was already revoked.
    public func afterRevoking(at now: UnixTime) -> ClientRow? {
        guard revokedAt == nil else { return nil }
        return ClientRow(
            id: id, version: version + 1, digest: digest, name: name, scopes: scopes,
            createdAt: createdAt, revokedAt: now, subjects: subjects)
    }

    /// An event about the client, which ``Origin/client`` identifies.
    public func event(
        _ kind: Event.Kind, because reason: Event.Reason? = nil, at now: UnixTime
    ) -> Event {
        Event(
            kind, reason: reason, time: now,
            origin: Origin(address: "", client: ClientID(bytes: id)))
    }
}
