/// The result of an audit of a database.
public struct AuditReport: Hashable, Sendable {
    /// Problems in the event chains; empty if there are none.
    public let findings: [AuditTrail.Finding]
    /// Problems in the rows; empty if there are none, or if the database's structure is damaged.
    public let rows: [RowAudit.Finding]
    /// The number of events.
    public let events: Int
    /// The end of each chain.
    ///
    /// Kept outside the database, these checkpoints reveal a later rollback to an earlier state.
    public let marks: [ChainCheckpoint]
    /// Whether the database's structure is intact, as far as the store checks it.
    ///
    /// SQLite checks it with `PRAGMA integrity_check`; PostgreSQL reports damage when it reads a
    /// page.
    public let isSound: Bool

    /// Combines the findings of an audit.
    package init(
        findings: [AuditTrail.Finding], rows: [RowAudit.Finding], events: Int,
        marks: [ChainCheckpoint], isSound: Bool
    ) {
        self.findings = findings
        self.rows = rows
        self.events = events
        self.marks = marks
        self.isSound = isSound
    }
}
