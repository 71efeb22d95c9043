public import Verification

/// A connection that reads a whole database, in one transaction if all its reads must show the same
/// state.
package protocol StoreSnapshot {
    /// The number of schema steps that were applied to the database.
    ///
    /// A database of an earlier release is read without a migration.
    var step: Int { get }

    /// Every row that a statement selects, decoded by `read`.
    func all<Value>(
        _ statement: StoreStatement, _ arguments: [StoredValue],
        _ read: (inout RowReader) throws(StoreFailure) -> Value
    ) throws(StoreFailure) -> [Value]
}

extension StoreSnapshot {
    /// Where each chain begins and ends, oldest first.
    package func chains() throws(StoreFailure) -> [ChainRecord] {
        try all(.chains, []) { row throws(StoreFailure) in try row.chain() }
    }

    /// One page of events, ordered by position.
    package func events(after position: UInt64, limit: Int) throws(StoreFailure) -> [ChainedEvent] {
        try all(.events, [position.storedValue, limit.storedValue]) { row throws(StoreFailure) in
            try row.event()
        }
    }

    /// Passes all credentials to `take`, page by page, in order of id.
    ///
    /// - Parameter key: `nil` to skip the authenticity check.
    package func allCredentials(
        _ key: AuditKey?, _ take: ([CredentialRow]) throws(StoreFailure) -> Void
    ) throws(StoreFailure) {
        try StoreWalk.credentials(
            { id, limit throws(StoreFailure) in
                try all(.credentialsByID, [id.storedValue, limit.storedValue]) {
                    row throws(StoreFailure) in try row.row(key)
                }
            }, take)
    }

    /// Adds the credentials that rows show as revoked or disabled, even if the rows are not
    /// authentic.
    ///
    /// After a failure, the credentials on the earlier pages have been added.
    package func readEndedRows(into found: inout Set<CredentialID>) throws(StoreFailure) {
        try allCredentials(nil) { page throws(StoreFailure) in
            found.formUnion(page.lazy.filter(\.hasEnded).map(\.id))
        }
    }

    /// Adds the credentials that events show as revoked or disabled, even if the events are not
    /// authentic.
    ///
    /// After a failure, the credentials on the earlier pages have been added.
    package func readEndingEvents(into found: inout Set<CredentialID>) throws(StoreFailure) {
        try StoreWalk.events(events(after:limit:)) { page throws(StoreFailure) in
            found.formUnion(page.compactMap(\.endedCredential))
        }
    }

    /// Checks all events and rows, which must be read in one transaction.
    ///
    /// - Parameter isSound: whether the database's structure is intact; if not, some rows cannot be
    ///   read, so none are checked.
    package func audit(
        isSound: Bool = true, checkpoints: [ChainCheckpoint], key: AuditKey
    ) throws(StoreFailure) -> AuditReport {
        let records = try chains()
        // Every database has had a chain since it was created.
        guard !records.isEmpty else { throw .chain }
        var trail = AuditTrail(chains: records, checkpoints: checkpoints, key: key)
        var rows = RowAudit(chains: records, key: key)
        var count = 0
        try StoreWalk.events(events(after:limit:)) { page throws(StoreFailure) in
            for event in page {
                trail.check(event)
                rows.take(event)
            }
            count += page.count
        }
        if isSound {
            try check(CredentialRow.self, .credentialsByID, &rows, key)
            try check(TicketRow.self, .ticketsByDigest, &rows, key)
            try check(ChallengeRow.self, .challengesByDigest, &rows, key)
            try check(AnswerRow.self, .answersByKey, &rows, key)
            try check(ClientRow.self, .clientsByID, &rows, key)
        }
        return AuditReport(
            findings: trail.findings(), rows: isSound ? rows.findings() : [], events: count,
            marks: records.map(\.head), isSound: isSound)
    }

    /// Checks every row of a table, if the table exists.
    private func check<Stored: ColumnRow>(
        _ table: Stored.Type, _ page: StoreStatement, _ audit: inout RowAudit, _ key: AuditKey
    ) throws(StoreFailure) {
        guard step >= Stored.step else { return }
        try StoreWalk.rows(
            { first, limit throws(StoreFailure) -> [AuditedRow<Stored>] in
                try all(page, [first.storedValue, limit.storedValue]) { row throws(StoreFailure) in
                    try row.audited(key)
                }
            }, key: \.key
        ) { page throws(StoreFailure) in
            audit.check(page)
        }
    }
}

/// The revoked and disabled credentials that could be read from a database.
public struct EndedCredentials: Hashable, Sendable {
    /// Their ids, in ascending order.
    public let credentials: [CredentialID]
    /// Whether everything could be read.
    ///
    /// If not, the list may be incomplete.
    public let isComplete: Bool

    package init(credentials: Set<CredentialID>, isComplete: Bool = true) {
        self.credentials = credentials.sorted()
        self.isComplete = isComplete
    }
}
