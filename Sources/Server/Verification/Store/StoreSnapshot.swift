/// A connection that reads a whole database, in one transaction if all its reads must show the same
/// state.
package protocol StoreSnapshot {
    associatedtype Failure: RowFailure
    associatedtype Row: RowReader where Row.Failure == Failure
    associatedtype Statement: PageStatement

    /// Whether the database has a table of challenges; a database of an earlier release has none.
    var hasChallenges: Bool { get throws(Failure) }

    /// Where each chain begins and ends, oldest first.
    func chains() throws(Failure) -> [ChainRecord]

    /// One page of events, ordered by position.
    func events(after position: UInt64, limit: Int) throws(Failure) -> [ChainedEvent]

    /// One page of a table, starting at a primary key and including it.
    func rows<Value>(
        _ page: Statement, from key: [UInt8], limit: Int,
        _ read: (inout Row) throws(Failure) -> Value
    ) throws(Failure) -> [Value]
}

/// A statement of a store; each of those listed here reads one page of a table, in order of primary
/// key.
package protocol PageStatement {
    static var credentialsByID: Self { get }
    static var ticketsByDigest: Self { get }
    static var challengesByDigest: Self { get }
    static var answersByKey: Self { get }
    static var clientsByID: Self { get }
}

extension StoreSnapshot {
    /// Passes all credentials to `take`, page by page, in order of id.
    ///
    /// - Parameter key: `nil` to skip the authenticity check.
    package func allCredentials(
        _ key: AuditKey?, _ take: ([CredentialRow]) throws(Failure) -> Void
    ) throws(Failure) {
        try StoreWalk.credentials(
            { id, limit throws(Failure) in
                try rows(.credentialsByID, from: id, limit: limit) { row throws(Failure) in
                    try row.credential(key)
                }
            }, take)
    }

    /// Adds the credentials that rows show as revoked or disabled, even if the rows are not
    /// authentic.
    ///
    /// If it fails, it has added those on the earlier pages.
    package func readEndedRows(into found: inout Set<CredentialID>) throws(Failure) {
        try allCredentials(nil) { page throws(Failure) in
            found.formUnion(page.lazy.filter(\.hasEnded).map(\.id))
        }
    }

    /// Adds the credentials that events show as revoked or disabled, even if the events are not
    /// authentic.
    ///
    /// If it fails, it has added those on the earlier pages.
    package func readEndingEvents(into found: inout Set<CredentialID>) throws(Failure) {
        try StoreWalk.events(events(after:limit:)) { page throws(Failure) in
            found.formUnion(page.compactMap(\.endedCredential))
        }
    }
}
