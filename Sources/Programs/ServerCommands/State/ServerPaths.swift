import CommandLineInterface
import PostgreSQLStore
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
