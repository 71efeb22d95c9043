internal import SQLStore
internal import Verification
internal import WatchwordCryptography

/// A value that the database stores about itself.
enum StoreSetting: String, ColumnValue {
    /// When this copy was made, in milliseconds; only in a backup.
    case backedUpAt = "backed_up_at"
}

extension SQLiteSession {
    /// Whether the setting exists, authentic or not.
    func has(_ setting: StoreSetting) throws(SQLiteFailure) -> Bool {
        try connection.prepare("SELECT value FROM settings WHERE name = ?1")
            .bind(setting).first { row throws(SQLiteFailure) in
                try row.requiredInteger()
            } != nil
    }

    /// - Throws: ``SQLiteFailure/invalidRow`` if the value is not authentic, or if an event was
    ///   recorded after it was set.
    func setting(_ setting: StoreSetting, key: AuditKey) throws(SQLiteFailure) -> Int64? {
        let lastEvent = try lastEvent()
        return try connection.prepare("SELECT value, authentication FROM settings WHERE name = ?1")
            .bind(setting).first { row throws(SQLiteFailure) in
                let value = try row.requiredInteger()
                let found = SettingRow(
                    name: setting.rawValue, value: value, lastEvent: lastEvent)
                return try row.authentic(found, key).value
            }
    }

    func set(
        _ setting: StoreSetting, to value: Int64, key: AuditKey
    ) throws(SQLiteFailure) {
        let row = SettingRow(name: setting.rawValue, value: value, lastEvent: try lastEvent())
        let code = key.code(of: row)
        try connection.prepare(
            "INSERT INTO settings VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE "
                + "SET value = excluded.value, authentication = excluded.authentication"
        ).bind(setting).bind(value).bind(code).run()
    }

    func remove(_ setting: StoreSetting) throws(SQLiteFailure) {
        try connection.prepare("DELETE FROM settings WHERE name = ?1")
            .bind(setting).run()
    }

    private func lastEvent() throws(SQLiteFailure) -> [UInt8] {
        try chains().last?.head.digest ?? []
    }
}
