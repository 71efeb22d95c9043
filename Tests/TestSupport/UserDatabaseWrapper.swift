import Foundation

/// The library that replaces the user database with files (Debian: libnss-wrapper).
public enum UserDatabaseWrapper {
    /// The library, to be preloaded; `nil` if it is not installed.
    public static let path: String? = {
        let folders = ["/usr/lib"] + ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu" }
        return folders.map { "\($0)/libnss_wrapper.so" }
            .first(where: FileManager.default.fileExists(atPath:))
    }()
}
