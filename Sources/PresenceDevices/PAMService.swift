internal import POSIX

/// The PAM service that Watchword asks.
public enum PAMService {
    /// The name of its file.
    public static let name = "watchword"
    /// Where Linux-PAM looks for it: the administrator's folder, then the packages'.
    public static let folders = ["/etc/pam.d", "/usr/lib/pam.d"]

    /// Whether an administrator, or a package, named the modules that are to be asked.
    ///
    /// Without a file of its own Linux-PAM would ask the modules of the service `other`, which nobody
    /// chose for this.
    public static func isInstalled(in folders: [String] = folders) -> Bool {
        folders.contains { folder in
            // What can't be looked at can't be read either.
            do { return try FileKind(at: "\(folder)/\(name)", following: true) == .file } catch {
                return false
            }
        }
    }
}
