import CommandLineInterface
import PostgreSQLStore
import SQLStore
import SQLiteStore
import Verification
import WatchwordCryptography
import WatchwordSystem

/// The locations of the database and the key file.
struct ServerPaths: Sendable {
    let database: DatabaseURL
    let keyFile: String
    /// Whether the key file is a copy that the service manager passed to this process.
    let keysArePassed: Bool
    /// The file for the ends of the event chains of a PostgreSQL database.
    let endsFile: String

    /// Takes the locations from the arguments.
    ///
    /// The default is `$XDG_STATE_HOME/watchword`; for an installed server, it is the locations in
    /// ``SystemInstallation``.
    init(_ arguments: ServerArguments) throws {
        let named = try arguments.value(
            .store, expected: "sqlite:PATH or postgresql://…", DatabaseURL.init)
        // All users of the machine can read the arguments of a process.
        if case .postgreSQL(let address)? = named, address.containsPassword,
            arguments.given(.store) != nil
        {
            throw ServerFailure.passwordInArguments
        }
        let state = ServerPaths.stateFolder()
        let database = named ?? state.map { .sqlite(path: $0 + "/watchword.db") }
        guard let database else { throw ServerFailure.noHome }
        self.database = database
        if let keys = arguments[.keys] {
            keyFile = keys
            keysArePassed = false
            endsFile = keys + ".ends"
            return
        }
        guard let folder = database.folder ?? state else { throw ServerFailure.noHome }
        let passed = ServiceManager.credential("keys")
        keysArePassed = passed != nil
        let own = SystemInstallation.isMeant ? SystemInstallation.keyFile : folder + "/keys"
        keyFile = passed ?? own
        // The server cannot write into a folder of root, in which the keys may be.
        endsFile = folder + "/keys.ends"
    }

    /// Whether the key file or the database exists.
    func areInUse() throws -> Bool {
        if FileStamp(of: keyFile) != nil { return true }
        return try database.isKnown()
    }

    /// An empty file that is written after each backup.
    ///
    /// PostgreSQL's own tools make its backups, so the administrator writes this file for them.
    var backupRecord: String {
        switch database {
        case .sqlite(let path): path + ".copied"
        case .postgreSQL: endsFile.dropLast(".ends".count) + ".copied"
        }
    }

    /// The time of the last complete backup; 1970 if there was none, `nil` if unknown.
    var lastBackup: UnixTime? {
        let recorded = FileStamp(of: backupRecord)?.writtenAt ?? (database.isFile ? 0 : nil)
        return recorded.map { UnixTime(seconds: $0) }
    }

    private static func stateFolder() -> String? {
        if SystemInstallation.isMeant { return SystemInstallation.stateFolder }
        // The XDG specification requires that relative paths are ignored.
        if let state = Environment.value("XDG_STATE_HOME"), state.hasPrefix("/") {
            return state + "/watchword"
        }
        return Environment.value("HOME").map { $0 + "/.local/state/watchword" }
    }
}

/// The location of the database.
enum DatabaseURL: Sendable {
    /// An SQLite file.
    case sqlite(path: String)
    /// A PostgreSQL database, which several machines can share.
    case postgreSQL(PostgreSQLAddress)

    /// Parses `sqlite:PATH` or a libpq URL.
    init?(_ text: String) {
        let scheme = "sqlite:"
        if text.hasPrefix(scheme), text.count > scheme.count {
            self = .sqlite(path: String(text.dropFirst(scheme.count)))
        } else if text.hasPrefix("postgresql://") || text.hasPrefix("postgres://"),
            let address = PostgreSQLAddress(text)
        {
            self = .postgreSQL(address)
        } else {
            return nil
        }
    }

    /// The location in messages, without a password.
    var shown: String {
        switch self {
        case .sqlite(let path): path
        case .postgreSQL(let address): address.shown
        }
    }

    /// The folder of an SQLite file.
    var folder: String? {
        if case .sqlite(let path) = self { OutputFile.split(path).folder } else { nil }
    }

    /// Whether the database is a file.
    var isFile: Bool { if case .sqlite = self { true } else { false } }

    /// Whether the database exists; asks a PostgreSQL server, but does not open an SQLite file.
    func isKnown() throws -> Bool {
        switch self {
        case .sqlite(let path): FileStamp(of: path) != nil
        case .postgreSQL(let address):
            try SystemInstallation.asServer {
                try naming(PostgreSQLVerificationStore.exists(address)) { .database(self, $0) }
            }
        }
    }
}

/// Reads a file that an option specifies.
enum InputBytes {
    /// The bytes of the file or pipe at `path`, at most `limit`.
    static func of(_ path: String, limit: Int) throws -> SecretBytes {
        try naming(read(path, limit: limit)) { .input(path, $0) }
    }

    private static func read(_ path: String, limit: Int) throws(FileError) -> SecretBytes {
        let file = try InputFile(path, acceptingPipes: true)
        if let size = file.size, size > limit { throw .tooLarge(limit: limit) }
        return try rest(of: file.descriptor, limit: limit)
    }

    /// Reads an open file, at most `limit` bytes.
    static func rest(
        of file: borrowing FileDescriptor, limit: Int
    ) throws(FileError) -> SecretBytes {
        let bytes: SecretBytes
        do throws(SystemCallFailure) {
            bytes = try SecretBytes(capacity: limit + 1) { output throws(SystemCallFailure) in
                try file.readToEnd(into: &output)
            }
        } catch { throw FileError(reading: error) }
        guard bytes.count <= limit else { throw .tooLarge(limit: limit) }
        return bytes
    }
}

/// A store with the additional operations that the server needs.
protocol ServedDatabase: VerificationStore {
    /// Finishes pending work and closes the database; later calls fail.
    func close()

    /// Records the ends of the event chains, so that an older state of the database is detected.
    func writeCheckpoints(_ places: ServerPaths) throws

    /// Calls `tell` after every `events` events; `tell` must not block.
    func onCheckpointChange(by events: Int, _ tell: @escaping @Sendable () -> Void)

    /// A fault that does not stop the database from answering; `nil` if there is none.
    var problem: String? { get }

    /// Registers the keys under their numbers.
    ///
    /// - Returns: the numbers under which other machines have registered different keys.
    func claim(_ keys: KeyRing, _ places: ServerPaths) throws -> Set<KeyID>
}

extension SQLiteVerificationStore: ServedDatabase {
    func writeCheckpoints(_ places: ServerPaths) throws {
        _ = try naming(saveCheckpoint()) { .database(places.database, $0) }
    }

    /// Does nothing: a file does not lose confirmed events by itself.
    ///
    /// An older file can replace the database only while the server is stopped, and the server
    /// records the end when it stops.
    func onCheckpointChange(by events: Int, _ tell: @escaping @Sendable () -> Void) {}

    /// A failing checkpoint.
    ///
    /// The write-ahead log grows, and the disk may be about to fail.
    var problem: String? {
        checkpointFailure.map { "checkpoint-\($0.kind.rawValue) \($0.code)" }
    }

    /// Returns nothing, because an SQLite database belongs to one machine, with one key file.
    func claim(_ keys: KeyRing, _ places: ServerPaths) -> Set<KeyID> { [] }
}

extension PostgreSQLVerificationStore: ServedDatabase {
    /// Always `nil`: PostgreSQL reports its faults in its own log.
    var problem: String? { nil }

    func writeCheckpoints(_ places: ServerPaths) throws {
        try CheckpointFile(path: places.endsFile).keep(ends)
    }

    func claim(_ keys: KeyRing, _ places: ServerPaths) throws -> Set<KeyID> {
        let fingerprints = keys.versions.map { ($0.id, $0.fingerprint) }
        return try naming(claim(Dictionary(uniqueKeysWithValues: fingerprints))) {
            .database(places.database, $0)
        }
    }
}

extension DatabaseURL {
    /// Opens the database and checks it against the recorded ends.
    func open(_ places: ServerPaths, key: AuditKey) throws -> any ServedDatabase {
        switch self {
        case .sqlite(let path):
            return try naming(SQLiteVerificationStore(opening: path, key: key)) {
                .database(self, $0)
            }
        case .postgreSQL(let address):
            let ends = try CheckpointFile(path: places.endsFile).read()
            return try naming(
                PostgreSQLVerificationStore(connecting: address, key: key, known: ends)
            ) { error in
                error == .rolledBack ? .rolledBack(places.endsFile) : .database(self, error)
            }
        }
    }
}
