import TestSupport
import Testing
import WatchwordSystem

struct PrivateFileTests {
    private func read(_ name: String, in folder: TemporaryFolder, limit: Int = 100)
        throws -> [UInt8]
    {
        try Folder(opening: folder.path).readPrivateFile(name, limit: limit)
    }

    @Test(
        "a private file is read completely if it is within the limit, and refused if it is larger")
    func limit() throws {
        let folder = try TemporaryFolder()
        let bytes = [UInt8](0..<100)
        try folder.write(bytes, to: "file")
        try setMode(0o600, of: folder.file("file"))
        #expect(try read("file", in: folder) == bytes)
        #expect(throws: FileError.tooLarge(limit: 99)) {
            try read("file", in: folder, limit: 99)
        }
        try folder.write([], to: "empty")
        try setMode(0o400, of: folder.file("empty"))
        #expect(try read("empty", in: folder).isEmpty)
    }

    @Test("a held file counts as unchanged until it is modified or another file takes its name")
    func held() throws {
        let folder = try TemporaryFolder()
        let opened = try Folder(opening: folder.path)
        for name in ["file", "other"] {
            try folder.write([1, 2], to: name)
            try setMode(0o600, of: folder.file(name))
        }
        let held = try opened.holdPrivateFile("file", limit: 100)
        #expect(held.bytes == [1, 2])
        #expect(try held.isUnchanged("file", in: opened))
        #expect(try !held.isUnchanged("other", in: opened))
        #expect(try !held.isUnchanged("none", in: opened))
        try opened.moveFile("other", to: "file")
        #expect(try !held.isUnchanged("file", in: opened))
        let longer = try opened.holdPrivateFile("file", limit: 100)
        try folder.write([1, 2, 3], to: "file")
        #expect(try !longer.isUnchanged("file", in: opened))
    }

    @Test("a missing file, a folder, a link and a public file are distinguished")
    func others() throws {
        let folder = try TemporaryFolder()
        try folder.write([1], to: "open")
        try setMode(0o604, of: folder.file("open"))
        try linkSymbolically(folder.file("open"), to: folder.file("link"))
        try makeFolder(folder.file("folder"))
        let cases: [(String, FileError)] = [
            ("none", .missing), ("folder", .folder), ("link", .symbolicLink),
            ("open", .openToOthers(mode: 0o604)),
        ]
        for (name, error) in cases {
            #expect(throws: error) { try read(name, in: folder) }
        }
    }
}

struct FolderTests {
    @Test("folders are created with mode 0700, and existing ones keep their mode")
    func making() throws {
        let folder = try TemporaryFolder()
        try makeFolder(folder.file("there"))
        try setMode(0o755, of: folder.file("there"))
        for _ in 0..<2 { try Folder.make(folder.file("there/a//b/")) }
        #expect(try mode(of: folder.file("there")) == 0o755)
        #expect(try mode(of: folder.file("there/a")) == 0o700)
        #expect(try mode(of: folder.file("there/a/b")) == 0o700)
    }

    @Test("a file with a folder's name is refused, not replaced")
    func blocked() throws {
        let folder = try TemporaryFolder()
        try folder.write([], to: "file")
        #expect(throws: SystemCallFailure.self) { try Folder.make(folder.file("file/below")) }
        #expect(try folder.bytes(of: "file").isEmpty)
    }

    @Test("a broken symbolic link counts as existing")
    func holding() throws {
        let folder = try TemporaryFolder()
        try linkSymbolically(folder.file("nothing"), to: folder.file("link"))
        let opened = try Folder(opening: folder.path)
        let (link, nothing) = (try opened.holds("link"), try opened.holds("nothing"))
        #expect(link && !nothing)
    }
}

struct SystemClockTests {
    @Test("the system time is plausible, and its millisecond part is below 1,000")
    func now() {
        #expect(SystemClock.unixTime() > 1_795_000_000)
        #expect((0..<1000).contains(SystemClock.milliseconds()))
    }

    @Test("the boot identifier is constant, and the boot clock does not go back")
    func boot() throws {
        let first = SystemClock.bootTime()
        #expect(first > 0 && SystemClock.bootTime() >= first)
        let name = try #require(SystemClock.bootID())
        #expect(name.count == 16 && SystemClock.bootID() == name)
        #expect(name.contains { $0 != 0 })
    }

    @Test("the size of the machine's memory is known")
    func memory() {
        #expect(SystemMemory.size() > 1 << 20)
    }
}
