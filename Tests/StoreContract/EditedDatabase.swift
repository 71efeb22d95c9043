public import Verification

/// A store, with write access to its database for an attacker who has no key.
public struct EditedDatabase: Sendable {
    /// The findings of an audit.
    public struct Findings: Sendable {
        let events: [AuditTrail.Finding]
        let rows: [RowAudit.Finding]

        /// Combines the findings about the event chains with those about the rows.
        public init(events: [AuditTrail.Finding], rows: [RowAudit.Finding]) {
            self.events = events
            self.rows = rows
        }
    }

    let store: any VerificationStore
    let key: AuditKey
    let schema: String
    let bytes: @Sendable ([UInt8]) -> String
    let run: @Sendable (String) throws -> Void
    let columns: @Sendable (_ table: String) throws -> [String]
    let audit: @Sendable () throws -> Findings

    /// Combines a store with functions that provide SQL access to its database.
    ///
    /// - Parameters:
    ///   - key: authenticates the store's events.
    ///   - schema: the prefix of table names.
    ///   - bytes: converts bytes to an SQL literal.
    ///   - run: runs SQL statements.
    ///   - columns: returns a table's column names.
    ///   - audit: audits the database.
    public init(
        _ store: any VerificationStore, key: AuditKey, schema: String = "",
        bytes: @escaping @Sendable ([UInt8]) -> String,
        run: @escaping @Sendable (String) throws -> Void,
        columns: @escaping @Sendable (_ table: String) throws -> [String],
        audit: @escaping @Sendable () throws -> Findings
    ) {
        self.store = store
        self.key = key
        self.schema = schema
        self.bytes = bytes
        self.run = run
        self.columns = columns
        self.audit = audit
    }

    /// Sets columns of one row; `assignments` is SQL.
    func set(_ assignments: String, in table: StoredTable, _ row: [UInt8]) throws {
        try run(
            "UPDATE \(schema)\(table.rawValue) SET \(assignments) "
                + "WHERE \(table.key) = \(bytes(row))")
    }

    func empty(_ table: StoredTable) throws { try run("DELETE FROM \(schema)\(table.rawValue)") }

    func delete(_ table: StoredTable, _ row: [UInt8]) throws {
        try run("DELETE FROM \(schema)\(table.rawValue) WHERE \(table.key) = \(bytes(row))")
    }

    /// Copies all rows to a second table.
    func keep(_ table: StoredTable) throws {
        try run("CREATE TABLE \(schema)kept AS SELECT * FROM \(schema)\(table.rawValue)")
    }

    /// Restores one row from the copy that `keep(_:)` made.
    func rolledBack(_ table: StoredTable, _ row: [UInt8]) throws {
        let columns = try columns(table.rawValue).joined(separator: ", ")
        try delete(table, row)
        try run(
            "INSERT INTO \(schema)\(table.rawValue) (\(columns)) SELECT \(columns) "
                + "FROM \(schema)kept WHERE \(table.key) = \(bytes(row))")
    }

    /// Overwrites one row's `column` with another row's value.
    func copy(_ column: String, in table: StoredTable, from source: [UInt8], to row: [UInt8]) throws
    {
        let name = schema + table.rawValue
        try set(
            "\(column) = (SELECT \(column) FROM \(name) AS source "
                + "WHERE source.\(table.key) = \(bytes(source)))", in: table, row)
    }
}

/// A table whose rows are authenticated.
enum StoredTable: String, CaseIterable {
    case credentials, tickets, challenges, answers, clients

    /// The name of the primary key column.
    var key: String {
        switch self {
        case .credentials, .clients: "id"
        case .tickets, .challenges: "digest"
        case .answers: "key"
        }
    }

    /// The queries that select all credentials of a subject.
    static func queries(of subject: Subject) -> [CredentialQuery] {
        [.alive(of: subject), .revoked(of: subject, before: UnixTime(milliseconds: .max))]
    }

    /// For each column, a different value as SQL.
    func edits(_ bytes: ([UInt8]) -> String) -> [(column: String, value: String)] {
        let other = bytes(sampleBytes(77, count: 32))
        let otherID = bytes(sampleBytes(77, count: 16))
        let subject = bytes(Array("mallory".utf8))
        let code = ("authentication", bytes(sampleBytes(77, count: 16)))
        switch self {
        case .credentials:
            return [
                ("id", otherID), ("subject", subject), ("kind", "'hotp'"), ("state", "'pending'"),
                ("state", "'revoked'"), ("version", "2"), ("version", "version + 1"),
                ("key_id", "2"), ("key_id", "NULL"), ("fingerprint", other),
                ("fingerprint", "NULL"), ("created_at", "created_at + 1"),
                ("lapses_at", "1700000600000"), ("body", bytes(sampleBytes(1, count: 200))),
                ("body", bytes([])), code, ("authentication", bytes([])),
            ]
        case .tickets:
            return [
                ("digest", other), ("purpose", "'login'"), ("credential", otherID),
                ("subject", subject), ("verification", otherID), ("created_at", "created_at + 1"),
                ("expires_at", "expires_at + 1"), code, ("authentication", bytes([])),
            ]
        case .challenges:
            return [
                ("digest", other), ("purpose", "'confirm'"), ("subject", subject),
                ("subject", "NULL"), ("credential", otherID), ("credential", "NULL"),
                ("body", other), ("body", bytes([])), ("created_at", "created_at + 1"),
                ("expires_at", "expires_at + 1"), code, ("authentication", bytes([])),
            ]
        case .answers:
            return [
                ("key", other), ("request", other), ("credential", otherID), ("credential", "NULL"),
                ("key_id", "2"), ("key_id", "NULL"), ("key_id", "NULL, sealed_answer = NULL"),
                ("sealed_answer", other), ("sealed_answer", "NULL"),
                ("expires_at", "expires_at + 1"), code, ("authentication", bytes([])),
            ]
        case .clients:
            let scopes = bytes(TextList(["admin", "enrol", "verify"]).bytes)
            return [
                ("id", otherID), ("version", "9"), ("digest", other), ("name", bytes([0x61])),
                ("scopes", scopes), ("scopes", bytes([])), ("created_at", "created_at + 1"),
                ("revoked_at", "1"), ("revoked_at", "NULL"), ("subjects", bytes(Array("/".utf8))),
                ("subjects", bytes(Array("shop".utf8))), ("subjects", "NULL"), code,
                ("authentication", bytes([])),
            ]
        }
    }
}
