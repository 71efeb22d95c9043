internal import WatchwordCryptography
internal import Exports

/// Microsoft Authenticator's database.
enum MicrosoftDatabase {
    static func read(_ database: DatabaseReading) throws(ExportError) -> ExportRows {
        var rows = ExportRows(.microsoftAuthenticator)
        let columns = [
            "name", "username", "oath_secret_key", "account_type", "encrypted_oath_secret_key",
        ]
        for record in try database.rows(of: "accounts", columns) {
            try rows.append { row throws(ExportRowRefusal) in try fill(&row, record) }
        }
        return rows
    }

    private static func fill(
        _ row: inout ExportRow, _ record: SQLiteRow
    ) throws(ExportRowRefusal) {
        row.issuer = try record.text("name")
        row.account = try record.text("username")
        switch record["encrypted_oath_secret_key"] {
        case .null: break
        case .text(let secret) where secret.count == 0: break
        default: throw .encryptedByPhone
        }
        switch record.number("account_type") {
        case .value(0): row.secret = try record.base32("oath_secret_key")
        case .value(1):
            // The user's Microsoft account.
            row.digits = .value(8)
            guard let text = try record.secret("oath_secret_key"), text.count > 0 else {
                throw .noSecret
            }
            guard let secret = text.decodedBase64() else { throw .badSecret }
            row.secret = .bytes(secret)
        // A work account has no such secret.
        case .value(2): throw .noSecret
        default: throw .unknownType
        }
    }
}
