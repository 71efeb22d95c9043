internal import Foundation
internal import Pictures
internal import TestSupport
internal import Testing
internal import WatchwordSystem

/// A program that is not a working reader causes a different error from an unreadable image.
@Suite struct ReaderStartTests {
    @Test(
        "a program that is not a working reader reads nothing and is reported",
        arguments: [
            // The program cannot confine itself.
            (
                BuiltProgram.path("UnconfinedReader"),
                HelperFailure.notConfined(.init(call: "seccomp_load", number: ENOSYS))
            ),
            ("/nonexistent/reader", .notFound),
            // The program ends before its greeting, or sends a different greeting.
            ("/bin/false", .died(.exited(1))), ("/usr/bin/yes", .otherVersion),
        ])
    func noReader(path: String, failure: HelperFailure) throws {
        let reader = try ReaderPool(path: path)
        #expect(throws: failure) { try reader.read(contents: ["picture"]) }
    }

    @Test("a file that is not a program is reported")
    func noProgram() throws {
        let folder = try TemporaryFolder()
        let reader = try ReaderPool(path: folder.write([], to: "reader"))
        let failure = SystemCallFailure(call: "posix_spawn", number: EACCES)
        #expect(throws: HelperFailure.cannotStart(failure)) {
            try reader.read(contents: ["picture"])
        }
    }
}
