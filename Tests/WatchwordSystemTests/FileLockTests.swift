import Foundation
import TestSupport
import Testing
import WatchwordSystem

struct FileLockTests {
    private func hold(
        _ folder: TemporaryFolder, timeout: Duration = .zero, while body: () throws -> Void = {}
    ) throws {
        let lock = try FileLock("lock", in: Folder(opening: folder.path), timeout: timeout)
        try body()
        _ = consume lock
    }

    @Test("a lock has one holder, is released when its value is destroyed, and uses a private file")
    func one() throws {
        let folder = try TemporaryFolder()
        try hold(folder) {
            #expect(throws: FileError.busy) { try hold(folder) }
        }
        try hold(folder)
        #expect(try mode(of: folder.file("lock")) == 0o600)
    }

    @Test("a shared lock can have several holders, and excludes an exclusive lock")
    func shared() throws {
        let folder = try TemporaryFolder()
        func share(while body: () throws -> Void) throws {
            let lock = try FileLock(
                "lock", in: Folder(opening: folder.path), sharing: true, timeout: .zero)
            try body()
            _ = consume lock
        }
        try share {
            try share {}
            #expect(throws: FileError.busy) { try hold(folder) }
        }
        try hold(folder) {
            #expect(throws: FileError.busy) { try share {} }
        }
    }

    @Test("fifty tasks that wait for one lock hold it one after another")
    func waiting() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("0".utf8), to: "count")
        try await withThrowingTaskGroup { group in
            for _ in 0..<50 {
                group.addTask {
                    try hold(folder, timeout: .seconds(60)) {
                        // Read and written by one task at a time; otherwise updates would be lost.
                        let text = String(decoding: try folder.bytes(of: "count"), as: UTF8.self)
                        try folder.write(Array("\((Int(text) ?? 0) + 1)".utf8), to: "count")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try folder.bytes(of: "count") == Array("50".utf8))
    }

    @Test("a lock file that is a symbolic link is not followed")
    func link() throws {
        let folder = try TemporaryFolder()
        try linkSymbolically(folder.file("other"), to: folder.file("lock"))
        #expect(throws: FileError.system(SystemCallFailure(call: "openat", number: ELOOP))) {
            try hold(folder)
        }
        #expect(try names(in: folder.path) == ["lock"])
    }
}
