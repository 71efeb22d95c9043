import Foundation
import TestSupport
import Testing

@testable import WatchwordSystem

/// Another program, which ignores the lock, replaces the file while a writer is working.
struct FileExchangeTests {
    private let file = FileReplacement(of: "file", beginningWith: FileBeginning(Array("ours".utf8)))
    private let read = Array("ours: read".utf8)

    private final class Place {
        let folder: TemporaryFolder
        let own: String

        init() throws {
            folder = try TemporaryFolder()
            own = folder.file("own")
            try makeFolder(own)
            try put("ours: read", at: "file")
            try put("ours: older", at: "own/previous")
        }

        func put(_ text: String, at name: String) throws {
            try folder.write(Array(text.utf8), to: "made")
            try setMode(0o600, of: folder.file("made"))
            // A new file takes the name, as when a program synchronises folders.
            try FileManager.default.removeItemIfPresent(folder.file(name))
            try FileManager.default.moveItem(
                atPath: folder.file("made"), toPath: folder.file(name))
        }

        func link(_ name: String, to second: String) throws {
            try FileManager.default.removeItemIfPresent(folder.file(second))
            try linkFile(folder.file(name), to: folder.file(second))
        }

        /// The contents of all files, by name.
        var files: [String: String] {
            get throws {
                var files: [String: String] = [:]
                for name in try names(in: folder.path) where name != "own" {
                    files[name] = String(decoding: try folder.bytes(of: name), as: UTF8.self)
                }
                for name in try names(in: own) {
                    let text = String(decoding: try folder.bytes(of: "own/" + name), as: UTF8.self)
                    files["own/" + name] = text
                }
                return files
            }
        }

        func opened<Failure: Error>(
            _ body: (borrowing Folder, borrowing Folder) throws(Failure) -> Void
        ) throws {
            try body(Folder(opening: folder.path), Folder(opening: own))
        }
    }

    private func save(_ place: Place, previous: FileReplacement.Previous = .kept) throws {
        try place.opened { folder, own in
            var linked: [LinkedFile] = []
            try file.replace(
                with: Array("ours: new".utf8).span, in: folder, besides: own,
                replacing: FileReplacement.OldFile(previous, containing: read), noting: &linked)
            #expect(linked.isEmpty)
        }
    }

    @Test("a file that has not changed since it was read is replaced and becomes the previous one")
    func replaced() throws {
        let kept = try Place()
        try save(kept)
        #expect(try kept.files == ["file": "ours: new", "own/previous": "ours: read"])
        let purged = try Place()
        try save(purged, previous: .purged)
        #expect(try purged.files == ["file": "ours: new", "own/previous.new": "ours: read"])
    }

    @Test(
        "O-10 if another program replaces the file after it is read, the new file stays",
        arguments: [FileReplacement.Previous.kept, .purged, .none])
    func replacedAfterReading(previous: FileReplacement.Previous) throws {
        let place = try Place()
        try place.put("ours: theirs", at: "file")
        #expect(throws: FileError.changed) { try save(place, previous: previous) }
        var left = ["file": "ours: theirs", "own/previous": "ours: older"]
        if case .purged = previous { left["own/previous"] = nil }
        #expect(try place.files == left)
    }

    @Test("O-10 a file that appears at the last moment is put back in its place")
    func replacedLast() throws {
        let place = try Place()
        try place.put("ours: new", at: "own/new")
        for put in [
            { try place.put("ours: theirs", at: "file") },
            { try place.folder.write(Array("ours: edit".utf8), to: "file") },
        ] {
            try put()
            let before = try place.folder.bytes(of: "file")
            try place.opened { folder, own in
                #expect(throws: FileError.changed) {
                    try file.exchange(in: folder, besides: own, expecting: read)
                }
                file.discardNames(in: own)
            }
            #expect(try place.folder.bytes(of: "file") == before)
            try place.put("ours: new", at: "own/new")
        }
        // The same applies to a symbolic link and a folder; a removed file stays removed.
        try removeFile(place.folder.file("file"))
        try linkSymbolically("own", to: place.folder.file("file"))
        try place.opened { folder, own in
            #expect(throws: FileError.changed) {
                try file.exchange(in: folder, besides: own, expecting: read)
            }
            file.discardNew(in: own)
        }
        #expect(try FileKind(at: place.folder.file("file"), following: false) == .symbolicLink)
        try removeFile(place.folder.file("file"))
        try place.put("ours: new", at: "own/new")
        try place.opened { folder, own in
            #expect(throws: FileError.changed) {
                try file.exchange(in: folder, besides: own, expecting: read)
            }
            file.discardNew(in: own)
        }
        #expect(try place.files == ["own/previous": "ours: older"])
    }

    @Test("O-10 a writer killed before or after the exchange of two files loses neither")
    func killed() throws {
        // Before the exchange: the new file has both names.
        let before = try Place()
        try before.put("ours: new", at: "own/new")
        try before.link("own/new", to: "own/displaced")
        try save(before)
        #expect(try before.files == ["file": "ours: new", "own/previous": "ours: read"])
        // After the exchange: the displaced file is also the previous file.
        let after = try Place()
        try after.link("file", to: "own/previous")
        try after.link("file", to: "own/displaced")
        try after.put("ours: new", at: "own/new")
        try after.link("own/new", to: "file")
        try after.opened { folder, own in
            var linked: [LinkedFile] = []
            try file.eraseAllButCurrent(in: folder, besides: own, noting: &linked)
            #expect(linked.isEmpty)
        }
        #expect(try after.files == ["file": "ours: new"])
        // After the exchange, if it displaced another program's file: that file is put back.
        let other = try Place()
        try other.put("ours: theirs", at: "own/displaced")
        try other.put("ours: new", at: "own/new")
        try other.link("own/new", to: "file")
        #expect(throws: FileError.changed) { try save(other) }
        #expect(try other.files == ["file": "ours: theirs", "own/previous": "ours: older"])
        // After such an exchange, a third file has appeared: both files stay, and the user must
        // decide.
        let third = try Place()
        try third.put("ours: theirs", at: "own/displaced")
        try third.put("ours: new", at: "own/new")
        try third.put("ours: third", at: "file")
        let files = try third.files
        #expect(throws: FileError.inTheWay(name: "displaced")) { try save(third) }
        #expect(try third.files == files)
    }
}

extension FileManager {
    fileprivate func removeItemIfPresent(_ path: String) throws {
        if fileExists(atPath: path) { try removeItem(atPath: path) }
    }
}
