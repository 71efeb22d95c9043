import Foundation
import Glibc
import TestSupport
import Testing

@testable import WatchwordSystem

/// A file of a user that root opens with the user's rights.
struct UserFileTests {
    private static let own = UserAccount(
        name: "tester", user: geteuid(), group: getegid(), home: "/")
    private static let limit = 100

    private func bytes(_ path: String, of owner: UserAccount = own) throws -> [UInt8] {
        let bytes = try UserFile.read(
            path, of: owner, limit: Self.limit, timeout: .seconds(60)
        ) { file throws(FileError) in
            try FileError.system(in: file.bytes(atMost: 2 * Self.limit))
        }
        return try #require(bytes)
    }

    private func error(_ path: String, of owner: UserAccount = own) -> FileError? {
        do throws(FileError) {
            _ = try UserFile.read(
                path, of: owner, limit: Self.limit, timeout: .seconds(60)
            ) { _ throws(FileError) in }
            return nil
        } catch {
            return error
        }
    }

    @Test("a small regular file of the user is opened, and nothing else is")
    func kinds() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write([UInt8](repeating: 7, count: Self.limit), to: "file")
        #expect(try bytes(file).count == Self.limit)
        let large = try folder.write([UInt8](repeating: 7, count: Self.limit + 1), to: "large")
        #expect(error(large) == .tooLarge(limit: Self.limit))
        try linkSymbolically("file", to: folder.file("link"))
        #expect(error(folder.file("link")) == .symbolicLink)
        try makeFolder(folder.file("folder"))
        #expect(error(folder.file("folder")) == .notAFile)
        let pipe = folder.file("pipe")
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        #expect(error(pipe) == .notAFile)
        #expect(error(folder.file("none")) == .missing)
        #expect(error("/dev/null/file") == .missing)
    }

    @Test(
        "root opens only the files that the user may read",
        .enabled(if: geteuid() == 0, "only root can take another user's rights"))
    func rights() throws {
        let folder = try TemporaryFolder()
        let other = UserAccount(name: "nobody", user: 4_242, group: 4_242, home: folder.path)
        let file = try folder.write([7], to: "file")
        #expect(error(file, of: other) == .system(SystemCallFailure(call: "open", number: EACCES)))
        try #require(unsafe chmod(folder.path, 0o755) == 0)
        #expect(error(file, of: other) == .otherOwner(0))
        try #require(unsafe chmod(file, 0o600) == 0)
        #expect(error(file, of: other) == .system(SystemCallFailure(call: "open", number: EACCES)))
        try #require(unsafe chown(file, other.user, other.group) == 0)
        #expect(try bytes(file, of: other) == [7])
        // Root's group does not help either.
        try #require(unsafe chown(file, 0, 0) == 0 && chmod(file, 0o640) == 0)
        #expect(error(file, of: other) == .system(SystemCallFailure(call: "open", number: EACCES)))
        // This thread still has root's rights.
        #expect(try bytes(file) == [7])
    }

    @Test("the reading of a file is abandoned if it takes too long")
    func timeout() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write([7], to: "file")
        let (answer, end) = (Semaphore(), Semaphore())
        let value = try UserFile.read(
            path, of: Self.own, limit: Self.limit, timeout: .milliseconds(20)
        ) { _ throws(FileError) in
            answer.wait()
            end.post()
            return 7
        }
        #expect(value == nil)
        answer.post()
        end.wait()
        withExtendedLifetime(folder) {}
    }

    @Test("the user database lists this process's user")
    func accounts() throws {
        let name = try #require(UserDatabase.name(of: geteuid()))
        #expect(
            try UserDatabase.accounts().contains { $0.name == name && $0.user == geteuid() })
    }
}
