internal import Foundation

/// The programs that were built together with the tests.
public enum BuiltProgram {
    /// The path of the program `name`.
    ///
    /// The test target must depend on it.
    public static func path(_ name: String) -> String {
        // The running program is the test bundle, which is in the same folder as the programs.
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appending(path: name).path
    }
}
