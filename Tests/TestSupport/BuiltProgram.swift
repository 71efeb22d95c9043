internal import Foundation

/// The programs that the tests start.
public enum BuiltProgram {
    /// The folder of the running test bundle.
    static let testFolder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    /// The folder that `WATCHWORD_PROGRAMS` names, or the folder of the tests.
    ///
    /// `Scripts/test` names the folder of the release programs.
    private static let folder =
        ProcessInfo.processInfo.environment["WATCHWORD_PROGRAMS"].map {
            URL(filePath: $0, directoryHint: .isDirectory)
        } ?? testFolder

    /// The path of the program `name`.
    public static func path(_ name: String) -> String { folder.appending(path: name).path }

    /// The path of a file that the tests build.
    public static func testFile(_ name: String) -> String { testFolder.appending(path: name).path }
}
