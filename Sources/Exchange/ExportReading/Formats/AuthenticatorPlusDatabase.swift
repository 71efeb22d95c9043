internal import WatchwordCryptography
internal import Exports

/// Authenticator Plus' database after its decryption.
enum AuthenticatorPlusDatabase {
    static func read(_ database: DatabaseReading) throws(ExportError) -> ExportRows {
        var rows = ExportRows(.authenticatorPlus)
        let columns = [
            "email", "secret", "counter", "type", "issuer", "original_name", "category", "position",
        ]
        let records = try database.rows(of: "accounts", columns)
        for record in records {
            try rows.append { row throws(ExportRowRefusal) in try fill(&row, record) }
        }
        rows.sort(
            by: records.map { record in
                guard case .value(let position) = record.number("position") else { return .max }
                return position
            })
        return rows
    }

    private static func fill(
        _ row: inout ExportRow, _ record: SQLiteRow
    ) throws(ExportRowRefusal) {
        row.account = try record.text("email")
        if case .null = record["issuer"] {
            var original = ExportRow()
            original.account = try record.text("original_name")
            original.splitAccount()
            row.issuer = original.issuer
            if row.account.isEmpty { row.account = original.account }
        } else {
            row.issuer = try record.text("issuer")
        }
        let category = try record.text("category")
        row.tags = category == "All Accounts" ? [] : [category]
        row.secret = try record.base32("secret")
        switch record.number("type") {
        case .absent, .value(0): row.kind = .totp
        case .value(1):
            row.kind = .hotp
            row.counter = record.number("counter")
        case .value(2):
            // Battle.net.
            row.digits = .value(8)
            guard let secret = try record.secret("secret") else { throw .noSecret }
            row.secret = .hex(secret)
        default: row.kind = .unknown
        }
    }
}
