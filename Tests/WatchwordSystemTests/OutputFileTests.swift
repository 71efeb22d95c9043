import Glibc
import TestSupport
import Testing
import WatchwordSystem

struct OutputFileTests {
    private func write(_ text: String, to path: String, replacing: Bool) throws(FileError) {
        try OutputFile.write(Array(text.utf8).span, to: path, replacing: replacing)
    }

    private func text(_ name: String, in folder: TemporaryFolder) throws -> String {
        String(decoding: try folder.bytes(of: name), as: UTF8.self)
    }

    @Test("a file is created private to its owner, and replaced only on request")
    func making() throws {
        let folder = try TemporaryFolder()
        try write("one", to: folder.file("o.png"), replacing: false)
        #expect(try mode(of: folder.file("o.png")) == 0o600)
        #expect(throws: FileError.exists) {
            try write("two", to: folder.file("o.png"), replacing: false)
        }
        #expect(try text("o.png", in: folder) == "one")
        try write("two", to: folder.file("o.png"), replacing: true)
        try write("new", to: folder.file("p.png"), replacing: true)
        #expect(try text("o.png", in: folder) == "two")
        #expect(try names(in: folder.path) == ["o.png", "p.png"])
    }

    @Test(
        "a file that begins like a protected one is not replaced, even on request")
    func protected() throws {
        let folder = try TemporaryFolder()
        let (start, new) = (Array("vault ".utf8), Array("new".utf8))
        let path = folder.file("o.png")
        try write("vault 1", to: path, replacing: true)
        #expect(throws: FileError.protected) {
            try OutputFile.write(new.span, to: path, replacing: true, sparing: start)
        }
        #expect(try text("o.png", in: folder) == "vault 1")
        for other in ["vault", ""] {
            try write(other, to: path, replacing: true)
            try OutputFile.write(new.span, to: path, replacing: true, sparing: start)
            #expect(try text("o.png", in: folder) == "new")
        }
    }

    @Test("writing a file does not change other files in its folder")
    func bystanders() throws {
        let folder = try TemporaryFolder()
        let bystanders = ["o.png.new", "o.png.previous", "o.png.previous.new"]
        for name in bystanders { try folder.write(Array(name.utf8), to: name) }
        for replacing in [false, true] {
            try write("one", to: folder.file("o.png"), replacing: replacing)
            for name in bystanders { #expect(try text(name, in: folder) == name) }
        }
        #expect(try names(in: folder.path) == ["o.png"] + bystanders)
    }

    @Test("a folder, a link, a pipe and a device are never replaced", arguments: [false, true])
    func notFiles(replacing: Bool) throws {
        let folder = try TemporaryFolder()
        try makeFolder(folder.file("folder"))
        try folder.write([1], to: "target")
        try linkSymbolically(folder.file("target"), to: folder.file("link"))
        try linkSymbolically(folder.file("nothing"), to: folder.file("broken"))
        #expect(unsafe mkfifo(folder.file("pipe"), 0o600) == 0)
        var cases: [(String, FileError)] = [
            ("folder", .namesFolder), ("link", .symbolicLink), ("broken", .symbolicLink),
            ("pipe", .notReplaceable), (".", .namesFolder),
        ]
        // A node of our own with the null device's numbers; only root can create one.
        if unsafe mknod(folder.file("device"), S_IFCHR | 0o600, dev_t(0x103)) == 0 {
            cases.append(("device", .notReplaceable))
        }
        let before = try names(in: folder.path)
        for (name, error) in cases {
            #expect(throws: error, "\(name)") {
                try write("x", to: folder.file(name), replacing: replacing)
            }
        }
        #expect(try names(in: folder.path) == before)
        #expect(try folder.bytes(of: "target") == [1])
        #expect(try FileKind(at: folder.file("pipe"), following: false) == .pipe)
    }

    @Test("the name begins after the last slash, even if it begins with a combining character")
    func split() {
        for (path, folder, name) in [
            ("a", ".", "a"), ("/a", "/", "a"), ("a/b/c", "a/b", "c"), ("a/", "a", ""),
            ("a/\u{301}x", "a", "\u{301}x"), ("/\u{301}x/c", "/\u{301}x", "c"),
        ] {
            let parts = OutputFile.split(path)
            #expect(parts.folder == folder && parts.name == name, "\(path)")
        }
    }

    @Test("a missing folder is reported as missing")
    func noFolder() throws {
        let folder = try TemporaryFolder()
        #expect(throws: FileError.noFolder) {
            try write("x", to: folder.file("none/o.png"), replacing: true)
        }
    }

    @Test("a failed write leaves nothing behind, and keeps the old file")
    func failing() throws {
        let folder = try TemporaryFolder()
        try write("old", to: folder.file("o.png"), replacing: false)
        // This name is too long even without a suffix, so the final name itself is refused.
        let long = String(repeating: "n", count: 256)
        #expect(throws: FileError.self) {
            try write("x", to: folder.file(long), replacing: true)
        }
        #expect(try names(in: folder.path) == ["o.png"])
        #expect(try text("o.png", in: folder) == "old")
    }
}
