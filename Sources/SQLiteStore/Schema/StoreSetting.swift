/// What the database remembers of itself.
enum StoreSetting: String {
    /// When this copy was made, in milliseconds; in a backup only.
    case backedUpAt = "backed_up_at"
    /// When it came from a backup last, in milliseconds.
    case restoredAt = "restored_at"
}

extension SQLiteSession {
    func setting(_ setting: StoreSetting) throws(SQLiteFailure) -> Int64? {
        try connection.prepare("SELECT value FROM settings WHERE name = ?1")
            .bind(setting.rawValue).first { row throws(SQLiteFailure) in try row.requiredInteger() }
    }

    func set(_ setting: StoreSetting, to value: Int64?) throws(SQLiteFailure) {
        guard let value else {
            try connection.prepare("DELETE FROM settings WHERE name = ?1")
                .bind(setting.rawValue).run()
            return
        }
        try connection.prepare(
            "INSERT INTO settings VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value"
        ).bind(setting.rawValue).bind(value).run()
    }
}
