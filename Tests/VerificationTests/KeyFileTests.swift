import TestSupport
import Testing
import Verification
import WatchwordCryptography
import WatchwordSystem

@Suite("Key files")
struct KeyFileTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("own/keys") }

    init() throws { folder = try TemporaryFolder() }

    /// Opens the file of a store that does not exist yet.
    private func open() throws -> KeyRing { try KeyRing(at: path) { false } }

    @Test("a missing key file is created once, readable only by its owner, and then kept")
    func created() throws {
        let ring = try open()
        #expect(try mode(of: path) == 0o600)
        #expect(try mode(of: folder.file("own")) == 0o700)
        let bytes = try folder.bytes(of: "own/keys")
        #expect(bytes == ring.text().known)
        // An existing file is used whether or not the store is known, and the closure is not
        // called.
        #expect(
            try KeyRing(at: path) {
                Issue.record("asked about the store")
                return true
            }.text() == ring.text())
        #expect(try KeyRing(at: path).text() == ring.text())
        #expect(try folder.bytes(of: "own/keys") == bytes)
        #expect(try names(in: folder.file("own")) == ["keys", "keys.lock"])
    }

    @Test("a missing key file is not created if the store exists or its existence is unknown")
    func lost() throws {
        #expect(throws: VerifierError.keyRing(.lost)) { try KeyRing(at: path) { true } }
        let unknown = StoreFailure(.unavailable)
        #expect(throws: unknown) { try KeyRing(at: path) { throw unknown } }
        #expect(throws: VerifierError.keyRing(.unreadable(.missing))) { try KeyRing(at: path) }
        #expect(try names(in: folder.path) == [])
    }

    @Test("a key file that another process creates during the check of the store is used")
    func createdMeanwhile() throws {
        var others: KeyRing?
        let ring = try KeyRing(at: path) {
            others = try open()
            return true
        }
        #expect(try ring.text() == #require(others).text())
    }

    @Test("a damaged key file is refused and stays unchanged", arguments: [true, false])
    func damaged(isCut: Bool) throws {
        _ = try open()
        var bytes = try folder.bytes(of: "own/keys")
        if isCut { bytes.removeLast() } else { bytes[20] ^= 1 }
        try folder.write(bytes, to: "own/keys")
        try setMode(0o600, of: path)
        #expect(throws: VerifierError.keyRing(.malformed)) { try open() }
        #expect(throws: VerifierError.keyRing(.malformed)) {
            try KeyRing.change(at: path) { ring throws(VerifierError) in ring }
        }
        #expect(try folder.bytes(of: "own/keys") == bytes)
    }

    @Test("a key file that is a symbolic link, even a broken one, is refused")
    func symbolicLink() throws {
        _ = try open()
        for target in [path, folder.file("nothing")] {
            let link = folder.file("link")
            try linkSymbolically(target, to: link)
            #expect(throws: VerifierError.keyRing(.unreadable(.symbolicLink)), "\(target)") {
                try KeyRing(at: link) { false }
            }
            try removeFile(link)
        }
        #expect(try names(in: folder.path) == ["own"])
    }

    @Test("a key file that other users can read, or replace, is refused")
    func exposed() throws {
        _ = try open()
        try setMode(0o640, of: path)
        #expect(throws: VerifierError.keyRing(.unreadable(.openToOthers(mode: 0o640)))) {
            try open()
        }
        try makeFolder(folder.file("shared"))
        try setMode(0o777, of: folder.file("shared"))
        #expect(throws: VerifierError.keyRing(.exposed(.openToOthers(mode: 0o777)))) {
            try KeyRing(at: folder.file("shared/keys")) { false }
        }
        #expect(try names(in: folder.file("shared")) == [])
    }

    @Test("of fifty tasks that need a missing key file, one creates it and all get its keys")
    func race() async throws {
        let path = path
        let texts = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<50 {
                group.addTask { try KeyRing(at: path) { false }.text().known }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let bytes = try folder.bytes(of: "own/keys")
        #expect(texts.count == 50)
        #expect(texts.allSatisfy { $0 == bytes })
    }

    @Test("concurrent changes to a key file are made one after the other")
    func changes() async throws {
        let first = try open()
        let path = path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    try KeyRing.change(at: path) { ring throws(VerifierError) in
                        try ring.adding(makingCurrent: true)
                    }
                }
            }
            try await group.waitForAll()
        }
        let ring = try KeyRing(at: path)
        #expect(ring.versions.map(\.id.number) == Array(1...11))
        #expect(ring.current.id.number == 11)
        #expect(ring.versions[0].fingerprint == first.current.fingerprint)
        #expect(try mode(of: path) == 0o600)
        #expect(try names(in: folder.file("own")) == ["keys", "keys.lock"])
    }
}
