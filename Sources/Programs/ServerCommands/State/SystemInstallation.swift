import CommandLineInterface
import WatchwordSystem

/// The locations of the server that the Debian package installs, as in its unit.
enum SystemInstallation {
    /// The environment of the service.
    static let settingsFile = "/etc/watchword/server.conf"
    /// The keys, of which the service manager passes a copy to the service.
    static let keyFile = "/etc/watchword/keys"
    /// The folder that belongs to the server's user.
    static let stateFolder = "/var/lib/watchword"

    /// Whether this command would concern the installed server if root ran it: the package is
    /// installed, and the environment specifies no other state folder.
    ///
    /// The value is determined once, because ``adoptSettings(_:)`` changes the environment.
    static let isMeantForRoot =
        Environment.value("XDG_STATE_HOME") == nil && FileStamp(of: settingsFile) != nil

    /// Whether this command concerns the installed server.
    static let isMeant = isMeantForRoot && CurrentProcess.user == 0

    /// The file with the settings of the command's server; `nil` if it is not known.
    static func settings(for arguments: ServerArguments) -> String? {
        arguments[.settings] ?? (isMeant ? settingsFile : nil)
    }

    /// Sets the variables of the settings file that the environment lacks, and the home folder of
    /// the server's user, so that the command finds the same database as the server.
    static func adoptSettings(_ arguments: ServerArguments) throws {
        guard let path = settings(for: arguments) else { return }
        for (name, value) in try SettingsFile.existingOrNew(at: path).settings
        where Environment.value(name) == nil {
            try Environment.set(name, to: value)
        }
        // libpq looks for certificates in the home folder, and fails if only root may open it.
        if isMeant { try Environment.set("HOME", to: stateFolder) }
    }

    /// Continues as the user of the installed server if root runs a command about this server, so
    /// that the server can use the files that the command writes.
    static func becomeServer() throws {
        if needsServer { try CurrentProcess.becomeOwner(of: stateFolder) }
    }

    /// Runs `body` as the user of the installed server, because a database may admit only that
    /// user.
    static func asServer<Value>(_ body: () throws -> Value) throws -> Value {
        try needsServer ? CurrentProcess.asOwner(of: stateFolder, body) : body()
    }

    /// Whether root still runs a command that concerns the installed server.
    private static var needsServer: Bool {
        isMeant && CurrentProcess.user == 0 && FileStamp(of: stateFolder) != nil
    }
}
