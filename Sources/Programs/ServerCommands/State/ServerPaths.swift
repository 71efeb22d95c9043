import CommandLineInterface
import PostgreSQLStore
import WatchwordCryptography
import WatchwordSystem

/// The locations of the database and the key file.
struct ServerPaths: Sendable {
    let database: DatabaseURL
    let keyFile: String

    /// Takes the locations from the arguments; the default is `$XDG_STATE_HOME/watchword`.
    init(_ arguments: ServerArguments) throws(ServerFailure) {
        let named: DatabaseURL?
        do throws(UsageError) {
            named = try arguments.value(
                .store, expected: "sqlite:PATH or postgresql://…", DatabaseURL.init)
        } catch {
            throw .usage(error)
        }
        // Every user of the machine can read the arguments of a process.
        if case .postgreSQL(let address)? = named, address.containsPassword,
            arguments.given(.store) != nil
        {
            throw .passwordInArguments
        }
        let state = ServerPaths.stateFolder()
        let database = named ?? state.map { .sqlite(path: $0 + "/watchword.db") }
        guard let database else { throw .noHome }
        self.database = database
        if let keys = arguments[.keys] {
            keyFile = keys
        } else if case .sqlite(let path) = database {
            keyFile = OutputFile.split(path).folder + "/keys"
        } else {
            guard let state else { throw .noHome }
            keyFile = state + "/keys"
        }
    }

    /// The file for the ends of the event chains of a PostgreSQL database.
    var endsFile: String { keyFile + ".ends" }

    private static func stateFolder() -> String? {
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

    /// Whether the database exists; asks a PostgreSQL server, but does not open an SQLite file.
    func isKnown() throws(PostgreSQLStoreError) -> Bool {
        switch self {
        case .sqlite(let path): FileStamp(of: path) != nil
        case .postgreSQL(let address): try PostgreSQLVerificationStore.exists(address)
        }
    }
}

/// Reads a file that an option names.
enum InputBytes {
    /// The bytes of the file or pipe at `path`, at most `limit`.
    static func of(_ path: String, limit: Int) throws(ServerFailure) -> SecretBytes {
        do throws(FileError) {
            let file = try InputFile(path, acceptingPipes: true)
            if let size = file.size, size > limit { throw FileError.tooLarge(limit: limit) }
            let bytes: SecretBytes
            do throws(SystemCallFailure) {
                bytes = try SecretBytes(capacity: limit + 1) { output throws(SystemCallFailure) in
                    try file.descriptor.readToEnd(into: &output)
                }
            } catch { throw FileError(reading: error) }
            guard bytes.count <= limit else { throw FileError.tooLarge(limit: limit) }
            return bytes
        } catch {
            throw .input(path, error)
        }
    }
}
