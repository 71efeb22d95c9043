public import SQLStore
public import Verification
internal import WatchwordCryptography
internal import WatchwordSystem

extension SQLiteVerificationStore {
    /// Copies a snapshot of the database to a new file at `path` (mode 0600).
    ///
    /// Other connections can keep reading and writing. The copy contains sealed seeds and keyed
    /// digests, which are useless without the keys; store the keys elsewhere. The copy must not be
    /// opened as a database: it would again accept codes and secrets that were spent after the
    /// backup. ``restore(from:to:key:_:)`` turns it into a
    /// database.
    ///
    /// - Throws: ``SQLStoreError/changedSchema(object:)`` if another program changed the schema;
    ///   ``SQLStoreError/exists`` if something exists at `path`. An unfinished copy
    ///   leaves only a file whose name ends in `.new`.
    public func backUp(to path: String, now: UnixTime) throws(SQLStoreError) {
        let target = DatabaseLocation(path)
        let folder = try target.openFolder(making: false)
        let aside = try target.makeTemporary(in: folder)
        let source = try location.openForReading()
        try SQLStoreError.store(in: aside.fill(from: source, backedUpAt: now, key: key))
        try SQLStoreError.system(in: target.moveIntoPlace(aside, in: folder))
    }
}

// A new database is written under a temporary name and renamed once it is complete.
extension DatabaseLocation {
    /// The temporary location of a new file of this name.
    var aside: DatabaseLocation { DatabaseLocation("\(folder)/\(name).new") }

    /// The names of the database and of all files that SQLite may create beside the database.
    private var names: [String] { ["", "-wal", "-shm", "-journal"].map { name + $0 } }

    /// Creates an empty temporary file, replacing any that an unfinished attempt left behind.
    ///
    /// - Throws: ``SQLStoreError/exists`` if there is a database with this name, or a leftover
    ///   file that SQLite would treat as part of the new database.
    func makeTemporary(in folder: borrowing Folder) throws(SQLStoreError) -> DatabaseLocation {
        for name in names {
            guard try !SQLStoreError.system(in: folder.holds(name)) else { throw .exists }
        }
        let aside = aside
        _ = try aside.exists(in: folder)
        for name in aside.names { try SQLStoreError.system(in: folder.removeFile(name)) }
        try SQLStoreError.system(in: folder.makePrivateFile(aside.name))
        return aside
    }

    /// Copies `source` to this location, and checks the structure of the copy.
    ///
    /// - Parameter time: makes the copy a backup of this time.
    func fill(
        from source: SQLiteSession, backedUpAt time: UnixTime? = nil, key: AuditKey
    ) throws(StoreFailure) {
        let copy = try openSession()
        try copy.connection.copy(from: source.connection)
        if let time {
            // The backup must be a single file, without a write-ahead log beside it.
            try copy.connection.leaveWriteAheadLog()
            try copy.set(.backedUpAt, to: time.milliseconds, key: key)
        }
        guard try copy.isSound() else { throw .invalidRow }
    }

    /// Renames the complete file to its final name.
    func moveIntoPlace(
        _ aside: DatabaseLocation, in folder: borrowing Folder
    ) throws(SystemCallFailure) {
        try folder.moveFile(aside.name, to: name)
    }
}

/// A value that the database stores about itself.
enum StoreSetting: String, ColumnValue {
    /// When this copy was made, in milliseconds; only in a backup.
    case backedUpAt = "backed_up_at"
}

extension SQLiteSession {
    /// Whether the setting exists; its authenticity is not checked.
    func has(_ setting: StoreSetting) throws(StoreFailure) -> Bool {
        let value: Int64? = try connection.prepare("SELECT value FROM settings WHERE name = ?1")
            .bind(setting).first()
        return value != nil
    }

    /// - Throws: ``StoreFailure/invalidRow`` if the value is not authentic, or if an event was
    ///   recorded after it was set.
    func setting(_ setting: StoreSetting, key: AuditKey) throws(StoreFailure) -> Int64? {
        let lastEvent = try lastEvent()
        return try connection.prepare("SELECT value, authentication FROM settings WHERE name = ?1")
            .bind(setting).first { row throws(StoreFailure) in
                let value = try row.requiredInteger()
                let found = SettingRow(
                    name: setting.rawValue, value: value, lastEvent: lastEvent)
                return try row.authentic(found, key).value
            }
    }

    func set(
        _ setting: StoreSetting, to value: Int64, key: AuditKey
    ) throws(StoreFailure) {
        let row = SettingRow(name: setting.rawValue, value: value, lastEvent: try lastEvent())
        let code = key.code(of: row)
        try connection.prepare(
            "INSERT INTO settings VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE "
                + "SET value = excluded.value, authentication = excluded.authentication"
        ).bind(setting).bind(value).bind(code).run()
    }

    func remove(_ setting: StoreSetting) throws(StoreFailure) {
        try connection.prepare("DELETE FROM settings WHERE name = ?1")
            .bind(setting).run()
    }

    private func lastEvent() throws(StoreFailure) -> [UInt8] {
        try chains().last?.head.digest ?? []
    }
}
