internal import Foundation

/// The programs that were built together with the tests.
public enum BuiltProgram {
    /// The path of the program `name`, which the test target must depend on.
    public static func path(_ name: String) -> String {
        // The test bundle itself runs, and lies in the same folder.
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appending(path: name).path
    }
}
