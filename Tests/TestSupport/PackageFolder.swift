public import Foundation

/// Where the package and the material beside it lie.
public enum PackageFolder {
    /// The folder of `Package.swift`.
    public static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// What is shared between projects and no part of this one: `$WATCHWORD_SHARED`, or `shared` beside the package.
    ///
    /// Nothing when it is not there: the test then says what it misses.
    public static let shared: URL? = {
        let named = ProcessInfo.processInfo.environment["WATCHWORD_SHARED"]
        let folder =
            named.map { URL(filePath: $0) }
            ?? root.deletingLastPathComponent().appending(path: "shared")
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }()
}
