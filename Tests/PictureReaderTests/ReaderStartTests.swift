internal import Foundation
internal import POSIX
internal import PictureReader
internal import TestSupport
internal import Testing

/// A program that is no reader that works is told from a picture that cannot be read.
@Suite struct ReaderStartTests {
    @Test("where confinement cannot be had the reader refuses, and says at which step")
    func unconfined() throws {
        let reader = try PictureReader(program: "UnconfinedReader")
        #expect(
            throws: PictureReaderFailure.notConfined(.init(call: "seccomp_load", number: ENOSYS))
        ) {
            try reader.read(contents: ["picture"])
        }
    }

    @Test("a program that is not there is told so")
    func missing() throws {
        let reader = try PictureReader(path: "/nonexistent/reader")
        #expect(throws: PictureReaderFailure.notFound) { try reader.read(contents: ["picture"]) }
    }

    @Test("a file that is no program is told so")
    func noProgram() throws {
        let folder = try TemporaryFolder()
        let reader = try PictureReader(path: folder.write([], to: "reader"))
        let failure = SystemCallFailure(call: "posix_spawn", number: EACCES)
        #expect(throws: PictureReaderFailure.cannotStart(failure)) {
            try reader.read(contents: ["picture"])
        }
    }

    @Test("a program that ends before it has greeted is told so, with its status")
    func endsAtOnce() throws {
        let reader = try PictureReader(path: "/bin/false")
        #expect(throws: PictureReaderFailure.diedAtStart(.exited(1))) {
            try reader.read(contents: ["picture"])
        }
    }

    @Test("a program that says something else is no reader")
    func saysSomethingElse() throws {
        let reader = try PictureReader(path: "/usr/bin/yes")
        #expect(throws: PictureReaderFailure.otherVersion) {
            try reader.read(contents: ["picture"])
        }
    }

    @Test("the program is found beside the one that runs")
    func beside() throws {
        #expect(throws: Never.self) { try PictureReader().prepare() }
    }
}
