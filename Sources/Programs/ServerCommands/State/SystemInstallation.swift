import WatchwordSystem

/// The places of the server that the Debian package installs, as its unit has them.
enum SystemInstallation {
    /// The environment of the service.
    static let settingsFile = "/etc/watchword/server.conf"
    /// The keys, of which the service manager passes a copy to the service.
    static let keyFile = "/etc/watchword/keys"
    /// The folder that belongs to the server's user.
    static let stateFolder = "/var/lib/watchword"
    /// The unit.
    static let service = "watchword-server"

    /// Whether this command would be about the installed server if root ran it: the package is
    /// installed, and the environment names no other state folder.
    ///
    /// It is determined once, because ``adoptSettings()`` changes the environment.
    static let isMeantForRoot =
        Environment.value("XDG_STATE_HOME") == nil && FileStamp(of: settingsFile) != nil

    /// Whether this command is about the installed server.
    static let isMeant = isMeantForRoot && CurrentProcess.user == 0

    /// Sets the variables of the settings file that the environment lacks, so that a command finds
    /// the server's database.
    static func adoptSettings() throws {
        guard isMeant else { return }
        for (name, value) in try SettingsFile(reading: settingsFile).settings
        where Environment.value(name) == nil {
            try Environment.set(name, to: value)
        }
    }

    /// Continues as the user of the server, so that the server can use what a command writes.
    ///
    /// - Parameter folder: the folder that this user owns.
    static func becomeServer(owning folder: String) throws {
        guard isMeant, CurrentProcess.user == 0, let owner = SystemFolder.owner(of: folder),
            owner != 0
        else { return }
        try CurrentProcess.becomeOwner(of: folder)
    }
}
