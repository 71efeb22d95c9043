import Foundation
import TestSupport
import Testing
import WatchwordSystem

struct FileReplacementTests {
    private func replace(
        _ text: String, in folder: TemporaryFolder, previous: FileReplacement.Previous = .kept
    ) throws {
        let bytes = Array("ours: \(text)".utf8)
        try file.replace(with: bytes.span, in: Folder(opening: folder.path), previous: previous)
    }

    private var file: FileReplacement {
        FileReplacement(of: "file", beginningWith: Array("ours: ".utf8))
    }

    @discardableResult private func erasePrevious(in folder: TemporaryFolder) throws
        -> [LinkedFile]
    {
        let opened = try Folder(opening: folder.path)
        var linked: [LinkedFile] = []
        try file.erasePrevious(in: opened, besides: opened, noting: &linked)
        return linked
    }

    private func eraseAllButCurrent(in folder: TemporaryFolder) throws -> [LinkedFile] {
        let opened = try Folder(opening: folder.path)
        var linked: [LinkedFile] = []
        try file.eraseAllButCurrent(in: opened, besides: opened, noting: &linked)
        return linked
    }

    private func text(_ name: String, in folder: TemporaryFolder) throws -> String {
        let text = String(decoding: try folder.bytes(of: name), as: UTF8.self)
        return text.hasPrefix("ours: ") ? String(text.dropFirst(6)) : text
    }

    /// Creates a file as a writer would leave it, with the same mode.
    private func leave(_ text: String, as name: String, in folder: TemporaryFolder) throws {
        try folder.write(Array(text.utf8), to: name)
        try setMode(0o600, of: folder.file(name))
    }

    @Test("a new file is private to its owner, and nothing is left next to it")
    func first() throws {
        let folder = try TemporaryFolder()
        try replace("one", in: folder)
        #expect(try text("file", in: folder) == "one")
        #expect(try mode(of: folder.file("file")) == 0o600)
        #expect(try names(in: folder.path) == ["file"])
    }

    @Test("a replaced file is kept as the previous one, for one generation only")
    func previous() throws {
        let folder = try TemporaryFolder()
        for word in ["one", "two", "three"] { try replace(word, in: folder) }
        #expect(try text("file", in: folder) == "three")
        #expect(try text("file.previous", in: folder) == "two")
        #expect(try names(in: folder.path) == ["file", "file.previous"])
        try replace("four", in: folder, previous: .none)
        #expect(try text("file.previous", in: folder) == "two")
    }

    @Test(
        "everything but the current file is overwritten and removed, even a killed writer's files")
    func allButCurrent() throws {
        let folder = try TemporaryFolder()
        for word in ["one", "two"] { try replace(word, in: folder) }
        let left = ["file.new", "file.previous.new"]
        for name in left { try leave("ours: half", as: name, in: folder) }
        let open = try FileHandle(forReadingFrom: URL(filePath: folder.file("file.previous")))
        #expect(try eraseAllButCurrent(in: folder).isEmpty)
        #expect(try names(in: folder.path) == ["file"])
        #expect(try text("file", in: folder) == "two")
        #expect(try open.readToEnd() == Data("ours: \0\0\0".utf8))
        #expect(try eraseAllButCurrent(in: folder).isEmpty)
    }

    @Test("a program removes its own file, but not another program's file with the same name")
    func removed() throws {
        let folder = try TemporaryFolder()
        try replace("one", in: folder)
        try file.remove(in: Folder(opening: folder.path))
        #expect(try names(in: folder.path) == [])
        try file.remove(in: Folder(opening: folder.path))
        try folder.write(Array("my notes".utf8), to: "file")
        #expect(throws: FileError.inTheWay(name: "file")) {
            try file.remove(in: Folder(opening: folder.path))
        }
        #expect(try text("file", in: folder) == "my notes")
    }

    @Test("nothing of a longer file remains after a shorter one replaces it")
    func shorter() throws {
        let folder = try TemporaryFolder()
        try replace(String(repeating: "long", count: 10_000), in: folder)
        try replace("", in: folder)
        #expect(try text("file", in: folder).isEmpty)
    }

    @Test(
        "a killed writer's files are overwritten and removed, however much of them was written",
        arguments: ["", "o", "ours: ", "ours: half", "ours: \0\0\0\0"])
    func leftovers(left: String) throws {
        let folder = try TemporaryFolder()
        try replace("one", in: folder)
        for name in ["file.new", "file.previous.new"] { try leave(left, as: name, in: folder) }
        let open = try FileHandle(forReadingFrom: URL(filePath: folder.file("file.new")))
        try replace("two", in: folder)
        #expect(try names(in: folder.path) == ["file", "file.previous"])
        let kept = left.prefix(6)
        #expect(
            try open.readToEnd() ?? Data()
                == Data(kept.utf8) + Data(repeating: 0, count: left.utf8.count - kept.utf8.count))
        try linkFile(folder.file("file"), to: folder.file("file.previous.new"))
        try replace("three", in: folder)
        #expect(try text("file.previous", in: folder) == "two")
        #expect(try names(in: folder.path) == ["file", "file.previous"])
    }

    @Test(
        "another program's file with the name of a leftover causes an error and is not changed",
        arguments: ["file.new", "file.previous.new"])
    func bystanders(name: String) throws {
        let folder = try TemporaryFolder()
        try replace("one", in: folder)
        try folder.write(Array("victim".utf8), to: "victim")
        let path = folder.file(name)
        let cases: [(String, () throws -> Void)] = [
            ("other content", { try leave("notes", as: name, in: folder) }),
            ("nearly ours", { try leave("ours; half", as: name, in: folder) }),
            (
                "open to others",
                {
                    try leave("ours: half", as: name, in: folder)
                    try setMode(0o644, of: path)
                }
            ),
            ("a second name", { try linkFile(folder.file("victim"), to: path) }),
            ("a link", { try linkSymbolically(folder.file("victim"), to: path) }),
            ("a folder", { try makeFolder(path) }),
        ]
        for (what, put) in cases {
            try put()
            let before = what == "a folder" ? [] : try folder.bytes(of: name)
            #expect(throws: FileError.inTheWay(name: name), "\(what)") {
                try replace("two", in: folder)
            }
            if what != "a folder" { #expect(try folder.bytes(of: name) == before, "\(what)") }
            #expect(try names(in: folder.path) == ["file", name, "victim"], "\(what)")
            try removeFile(path)
        }
        #expect(try text("file", in: folder) == "one")
        #expect(try text("victim", in: folder) == "victim")
    }

    @Test("a previous or current file that belongs to another program causes an error")
    func otherFiles() throws {
        let folder = try TemporaryFolder()
        try replace("one", in: folder)
        try leave("notes", as: "file.previous", in: folder)
        for previous in [FileReplacement.Previous.kept, .purged] {
            #expect(throws: FileError.inTheWay(name: "file.previous")) {
                try replace("two", in: folder, previous: previous)
            }
        }
        #expect(throws: FileError.inTheWay(name: "file.previous")) {
            try erasePrevious(in: folder)
        }
        #expect(try folder.bytes(of: "file.previous") == Array("notes".utf8))
        try leave("notes", as: "file", in: folder)
        #expect(throws: FileError.inTheWay(name: "file")) {
            try replace("two", in: folder, previous: .none)
        }
        #expect(try names(in: folder.path) == ["file", "file.previous"])
    }

    @Test(
        "a file that a killed writer left with two names is replaced correctly")
    func twoNames() throws {
        let folder = try TemporaryFolder()
        try replace("one", in: folder)
        try linkFile(folder.file("file"), to: folder.file("file.previous"))
        try replace("two", in: folder)
        #expect(try text("file", in: folder) == "two")
        #expect(try text("file.previous", in: folder) == "one")
        #expect(try names(in: folder.path) == ["file", "file.previous"])
    }

    @Test("erasing overwrites and removes the previous file, if there is one")
    func erasing() throws {
        let folder = try TemporaryFolder()
        try replace("one", in: folder)
        try replace("two", in: folder)
        // A process that has the file open can still see the content of its blocks.
        let open = try FileHandle(
            forReadingFrom: URL(filePath: folder.file("file.previous")))
        for _ in 0..<2 {
            #expect(try erasePrevious(in: folder).isEmpty)
            #expect(try names(in: folder.path) == ["file"])
        }
        #expect(try open.readToEnd() == Data("ours: \0\0\0".utf8))
        #expect(try text("file", in: folder) == "two")
    }

    @Test(
        "purging overwrites the previous file, and the replaced file never takes its name")
    func purged() throws {
        let folder = try TemporaryFolder()
        for word in ["one", "two"] { try replace(word, in: folder) }
        let older = try FileHandle(forReadingFrom: URL(filePath: folder.file("file.previous")))
        let old = try FileHandle(forReadingFrom: URL(filePath: folder.file("file")))
        try replace("three", in: folder, previous: .purged)
        #expect(try older.readToEnd() == Data("ours: \0\0\0".utf8))
        // If the writer is killed here, the next one erases what it left.
        #expect(try names(in: folder.path) == ["file", "file.previous.new"])
        try replace("four", in: folder)
        #expect(try old.readToEnd() == Data("ours: \0\0\0".utf8))
        #expect(try names(in: folder.path) == ["file", "file.previous"])
        // Both names refer to one file, as a writer killed between two renames leaves them.
        try removeFile(folder.file("file.previous"))
        try linkFile(folder.file("file"), to: folder.file("file.previous"))
        try replace("five", in: folder, previous: .purged)
        #expect(try eraseAllButCurrent(in: folder).isEmpty)
        #expect(try text("file", in: folder) == "five")
        #expect(try names(in: folder.path) == ["file"])
    }

    @Test("a file with a second name keeps its content under that name, and the file is noted")
    func secondNames() throws {
        let folder = try TemporaryFolder()
        for word in ["one", "two"] { try replace(word, in: folder) }
        for (name, second) in [("file", "current"), ("file.previous", "older")] {
            try linkFile(folder.file(name), to: folder.file(second))
        }
        let older = LinkedFile(number: try inode(of: folder.file("older")))
        let current = LinkedFile(number: try inode(of: folder.file("current")))
        let opened = try Folder(opening: folder.path)
        var linked: [LinkedFile] = []
        try file.replace(
            with: Array("ours: three".utf8).span, in: opened, besides: opened,
            replacing: FileReplacement.OldFile(.purged, containing: Array("ours: two".utf8)),
            noting: &linked)
        #expect(linked == [older])
        try file.eraseAllButCurrent(in: opened, besides: opened, noting: &linked)
        #expect(linked == [older, current])
        #expect(try names(in: folder.path) == ["current", "file", "older"])
        #expect(try text("older", in: folder) == "one")
        #expect(try text("current", in: folder) == "two")
        // The same applies to what a killed writer left; it does not prevent the next save.
        for name in ["file.new", "file.previous.new"] {
            try linkFile(folder.file("older"), to: folder.file(name))
            try replace("next", in: folder)
            #expect(try text("older", in: folder) == "one")
            #expect(try text("file", in: folder) == "next")
            #expect(try !names(in: folder.path).contains(name))
        }
    }

    @Test("a missing folder is reported with the failed call and its error number")
    func missing() throws {
        let folder = try TemporaryFolder()
        let failure = #expect(throws: SystemCallFailure.self) {
            try Folder(opening: folder.file("none")).synchronizeForTest()
        }
        #expect(failure?.call == "open" && failure?.isMissing == true)
    }
}

extension Folder {
    fileprivate borrowing func synchronizeForTest() throws(SystemCallFailure) {
        _ = try holds("anything")
    }
}
