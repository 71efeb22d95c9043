public import Foundation

/// The locations of the package and of the material next to it.
public enum PackageFolder {
    /// The folder that contains `Package.swift`.
    public static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Material shared between projects that is not part of this package: `$WATCHWORD_SHARED`, or
    /// `shared` next to the package.
    ///
    /// `nil` if the folder does not exist; the test is then skipped with a message that gives this
    /// reason.
    public static let shared: URL? = {
        let named = ProcessInfo.processInfo.environment["WATCHWORD_SHARED"]
        let folder =
            named.map { URL(filePath: $0) }
            ?? root.deletingLastPathComponent().appending(path: "shared")
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }()
}
