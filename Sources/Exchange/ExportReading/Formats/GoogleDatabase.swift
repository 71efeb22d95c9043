internal import Exports

/// Google Authenticator's database.
enum GoogleDatabase {
    static func read(_ database: DatabaseReading) throws(ExportError) -> ExportRows {
        var rows = ExportRows(.googleAuthenticator)
        let columns = ["email", "secret", "counter", "type", "issuer", "isencrypted"]
        for record in try database.rows(of: "accounts", columns) {
            try rows.append { row throws(ExportRowRefusal) in try fill(&row, record) }
        }
        return rows
    }

    private static func fill(
        _ row: inout ExportRow, _ record: SQLiteRow
    ) throws(ExportRowRefusal) {
        row.account = try record.text("email")
        row.issuer = try record.text("issuer")
        if case .null = record["issuer"] { row.splitAccount() }
        // Only the phone's keystore has the key.
        if case .value(1...) = record.number("isencrypted") { throw .encryptedByPhone }
        row.secret = try record.base32("secret")
        switch record.number("type") {
        case .absent, .value(0): row.kind = .totp
        case .value(1):
            row.kind = .hotp
            row.counter = record.number("counter")
            // Google Authenticator increments the counter before it computes a code.
            row.warnings = [.counterOfLastCode]
        default: row.kind = .unknown
        }
    }
}

extension ExportRow {
    /// Splits an account of the form "issuer:account" that has no issuer elsewhere.
    mutating func splitAccount() {
        let parts = account.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return }
        issuer = String(parts[0])
        account = String(parts[1])
    }
}
