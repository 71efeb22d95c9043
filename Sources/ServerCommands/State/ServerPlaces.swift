import Arguments
import POSIX

/// Where the database and the key file are.
struct ServerPlaces: Sendable {
    let database: String
    let keyFile: String

    /// What the arguments say, or else `$XDG_STATE_HOME/watchword`.
    init(_ arguments: ServerArguments) throws(ServerFailure) {
        let named: String?
        do throws(UsageError) {
            named = try arguments.value(.store, expected: "sqlite:PATH", ServerPlaces.sqlitePath)
        } catch {
            throw .usage(error)
        }
        guard let database = named ?? ServerPlaces.defaultDatabase() else { throw .noHome }
        self.database = database
        keyFile = arguments[.keys] ?? OutputFile.split(database).folder + "/keys"
    }

    private static func sqlitePath(_ text: String) -> String? {
        let scheme = "sqlite:"
        guard text.hasPrefix(scheme), text.count > scheme.count else { return nil }
        return String(text.dropFirst(scheme.count))
    }

    private static func defaultDatabase() -> String? {
        // The XDG specification has relative paths ignored.
        if let state = Environment.value("XDG_STATE_HOME"), state.hasPrefix("/") {
            return state + "/watchword/watchword.db"
        }
        return Environment.value("HOME").map { $0 + "/.local/state/watchword/watchword.db" }
    }
}
