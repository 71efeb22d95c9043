internal import SQLStore
internal import Verification
internal import WatchwordCryptography

/// The numbers that identify a file, and the schema steps.
enum Schema {
    /// Identifies the file as ours (`PRAGMA application_id`): “wwdb”.
    static let applicationID: Int64 = 0x7777_6462

    /// The page size of a new file in bytes.
    ///
    /// The size is small because a commit writes whole pages, often for only one or two rows each.
    static let pageSize = 2_048

    static let steps = SQLiteDialect.steps
}

// Identifies a file and brings it to the current schema.
extension SQLiteConnection {
    /// Applies the settings of a connection that writes.
    ///
    /// Every commit waits for the disk (`synchronous`); deleted content is overwritten
    /// (`secure_delete`); damaged pages are detected (`cell_size_check`).
    func prepareForWriting() throws(StoreFailure) {
        try execute(
            """
            PRAGMA synchronous = FULL;
            PRAGMA secure_delete = ON;
            PRAGMA cell_size_check = ON;
            PRAGMA temp_store = MEMORY;
            PRAGMA cache_size = -16384;
            """)
    }

    /// Brings the file to the current schema.
    ///
    /// - Parameter makeNode: generates the name of a new event chain.
    func updateSchema(
        key: AuditKey, makeNode: () -> [UInt8]
    ) throws(SQLStoreError) {
        let version = try requireOwnFile()
        try SQLStoreError.store(in: updateSchema(from: version, key: key, makeNode: makeNode))
    }

    private func updateSchema(
        from version: Int, key: AuditKey, makeNode: () -> [UInt8]
    ) throws(StoreFailure) {
        if version == 0 { try execute("PRAGMA page_size = \(Schema.pageSize)") }
        try useWriteAheadLog()
        guard version < Schema.steps.count else { return }
        try execute("BEGIN IMMEDIATE")
        for step in Schema.steps[version...] { try execute(step) }
        try execute(
            "PRAGMA application_id = \(Schema.applicationID);"
                + "PRAGMA user_version = \(Schema.steps.count);")
        if version == 0 { try beginChain(key: key, node: makeNode, position: 0) }
        try execute("COMMIT")
    }

    /// Returns the number of schema steps that were applied to the file; 0 for an empty file.
    ///
    /// Refuses the file of another program or of a newer version, and a changed schema.
    func requireOwnFile() throws(SQLStoreError) -> Int {
        let id: Int64
        let version: Int
        let objects: Int64
        do throws(StoreFailure) {
            id = try number("PRAGMA application_id")
            version = Int(try number("PRAGMA user_version"))
            objects = try number("SELECT count(*) FROM sqlite_schema")
        } catch {
            // A file that is not a database belongs to another program; it is not a damaged
            // database of ours.
            throw error.code == "SQLITE_NOTADB" ? .foreignFile : .store(error)
        }
        if id == 0, version == 0, objects == 0 { return 0 }
        guard id == Schema.applicationID, version > 0 else { throw .foreignFile }
        guard version <= Schema.steps.count else { throw .newer(schema: version) }
        try requireSchema(Schema.steps[..<version])
        return version
    }

    /// Refuses a file whose schema differs from the one that these steps create.
    ///
    /// An added index or constraint could make decisions fail. Triggers and views are always off,
    /// even if they are added while the file is open.
    private func requireSchema(_ steps: ArraySlice<String>) throws(SQLStoreError) {
        let changed = try SQLStoreError.store(in: schemaObjects(unlike: steps))
        if let name = changed.map(\.name).min() { throw .changedSchema(object: name) }
    }

    /// The objects that only the file's schema, or only the schema of these steps, contains.
    private func schemaObjects(
        unlike steps: ArraySlice<String>
    ) throws(StoreFailure) -> Set<SchemaObject> {
        let expected = try SQLiteConnection(path: ":memory:", .readWrite, timeout: .zero)
        for step in steps { try expected.execute(step) }
        return try schemaObjects().symmetricDifference(expected.schemaObjects())
    }

    /// The objects of the file's schema, without the statistics that `ANALYZE` stores.
    private func schemaObjects() throws(StoreFailure) -> Set<SchemaObject> {
        Set(
            try prepare(
                "SELECT name, type || ' ' || tbl_name || ' ' || coalesce(sql, '') "
                    + "FROM sqlite_schema "
                    + "WHERE NOT (type = 'table' AND name GLOB 'sqlite_stat[134]')"
            ).all { row throws(StoreFailure) in
                SchemaObject(name: try row.requiredText(), definition: try row.requiredText())
            })
    }

    /// Begins an event chain, to which all later events are appended.
    func beginChain(
        key: AuditKey, node: () -> [UInt8], position: UInt64
    ) throws(StoreFailure) {
        let chain = EventChain(node: node(), position: position, key: key)
        let (start, head) = (chain.start(), chain.head())
        try prepare(SQLiteDialect().text(of: .beginChain)).bind(start.arguments)
            .bind(head.sequence).bind(head.digest).bind(head.authentication).bind(position).run()
    }

    /// The number that a query selects.
    func number(_ sql: String) throws(StoreFailure) -> Int64 {
        guard let found: Int64 = try prepare(sql).first() else { throw .invalidRow }
        return found
    }

    private func useWriteAheadLog() throws(StoreFailure) { try useJournal("wal") }

    /// Checkpoints the log into the database file and leaves WAL mode, so that the file is
    /// complete.
    func leaveWriteAheadLog() throws(StoreFailure) { try useJournal("delete") }

    private func useJournal(_ wanted: String) throws(StoreFailure) {
        let mode: String? = try prepare("PRAGMA journal_mode = \(wanted)").first()
        // If WAL mode is impossible (the file system has no shared memory), SQLite keeps the old
        // mode.
        guard mode == wanted else { throw .noWriteAheadLog }
    }
}

/// A table, index, trigger or view.
private struct SchemaObject: Hashable {
    let name: String
    /// The object's type, its table and the statement that creates it.
    let definition: String
}
