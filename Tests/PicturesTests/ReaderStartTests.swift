internal import Foundation
internal import Pictures
internal import TestSupport
internal import Testing
internal import WatchwordSystem

/// A program that is not a working reader causes a different error from an unreadable picture.
@Suite struct ReaderStartTests {
    @Test("a reader that cannot confine itself reads nothing and reports the failed step")
    func unconfined() throws {
        let reader = try ReaderPool(program: "UnconfinedReader")
        #expect(
            throws: HelperFailure.notConfined(.init(call: "seccomp_load", number: ENOSYS))
        ) {
            try reader.read(contents: ["picture"])
        }
    }

    @Test("a missing program is reported")
    func missing() throws {
        let reader = try ReaderPool(path: "/nonexistent/reader")
        #expect(throws: HelperFailure.notFound) { try reader.read(contents: ["picture"]) }
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

    @Test("a program that ends before its greeting is reported with its status")
    func endsAtOnce() throws {
        let reader = try ReaderPool(path: "/bin/false")
        #expect(throws: HelperFailure.died(.exited(1))) {
            try reader.read(contents: ["picture"])
        }
    }

    @Test("a program with a different greeting is not accepted as a reader")
    func saysSomethingElse() throws {
        let reader = try ReaderPool(path: "/usr/bin/yes")
        #expect(throws: HelperFailure.otherVersion) {
            try reader.read(contents: ["picture"])
        }
    }
}
