internal import POSIX

/// The PAM service that Watchword uses.
public enum PAMService {
    /// The name of its file.
    public static let name = "watchword"
    /// Where Linux-PAM looks for it: the administrator's folder, then the packages' folder.
    public static let folders = ["/etc/pam.d", "/usr/lib/pam.d"]

    /// Whether an administrator or a package has configured the modules.
    ///
    /// Without this file, Linux-PAM would ask the modules of the service `other`, which nobody
    /// chose for this purpose.
    public static func isInstalled(in folders: [String] = folders) -> Bool {
        folders.contains { folder in
            // A file that cannot be inspected cannot be read either.
            do { return try FileKind(at: "\(folder)/\(name)", following: true) == .file } catch {
                return false
            }
        }
    }
}
