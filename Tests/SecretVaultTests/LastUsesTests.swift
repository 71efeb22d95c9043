import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

/// The record of when entries were last used.
struct LastUsesTests {
    private func file(_ vault: TestVault) throws -> String {
        try vault.counted("attempts").replacingSuffix("attempts", with: "uses")
    }

    @Test("the time of an entry's last use is read back; removed entries are dropped")
    func times() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let open = try vault.unlock()
        #expect(open.lastUses.isEmpty)
        for (place, time) in [(0, 10), (2, 20), (0, 30)] as [(Int, Int64)] {
            open.recordUse(of: ids[place], at: time)
        }
        #expect(try vault.unlock().lastUses == [ids[0]: 30, ids[2]: 20])
        // The clock was set back.
        open.recordUse(of: ids[2], at: 20)
        #expect(open.lastUses == [ids[0]: 30, ids[2]: 31])
        try open.change { try $0.remove(ids[0], purge: false) }
        open.recordUse(of: ids[3], at: 40)
        #expect(try vault.unlock().lastUses == [ids[2]: 31, ids[3]: 40])
    }

    @Test("several uses are recorded in one save, in their order")
    func several() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let open = try vault.unlock()
        open.record([ids[0], ids[2], ids[0]].map { RecordedUse(of: $0, at: 10) })
        #expect(open.lastUses == [ids[0]: 12, ids[2]: 11])
        open.record([])
        #expect(open.lastUses == [ids[0]: 12, ids[2]: 11])
    }

    @Test("the file contains no names and no IDs, and only its owner can read it")
    func sealed() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let open = try vault.unlock()
        open.recordUse(of: ids[0], at: 10)
        let bytes = try vault.folder.bytes(of: file(vault))
        #expect(bytes.starts(with: LastUses.firstLine))
        #expect(try mode(of: vault.folder.file(file(vault))) == 0o600)
        let box = try Base64.decode(
            Array(bytes[LastUses.firstLine.count...].dropLast()).span)
        let id = ids[0].bytes
        let places = box.indices.filter { box[$0...].starts(with: id) }
        #expect(box.count > id.count && places.isEmpty)
        // Each sealed file differs.
        open.recordUse(of: ids[0], at: 10)
        #expect(try vault.folder.bytes(of: file(vault)) != bytes)
    }

    @Test("a file that does not open counts as empty, and an unrelated one is not changed")
    func unreadable() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let open = try vault.unlock()
        open.recordUse(of: ids[0], at: 10)
        var bytes = try vault.folder.bytes(of: file(vault))
        let whole = bytes
        bytes[bytes.count - 9] ^= 1
        for damaged in [bytes, Array(whole.dropLast()), LastUses.firstLine, []] {
            try vault.put(damaged, as: file(vault))
            #expect(open.lastUses.isEmpty)
            open.recordUse(of: ids[1], at: 20)
            #expect(open.lastUses == [ids[1]: 20])
        }
        let notes = Array("notes".utf8)
        try vault.put(notes, as: file(vault))
        open.recordUse(of: ids[1], at: 20)
        #expect(open.lastUses.isEmpty)
        #expect(try vault.folder.bytes(of: file(vault)) == notes)
        // A different key does not open the file.
        try vault.put(whole, as: file(vault))
        #expect(open.lastUses == [ids[0]: 10])
        try open.change { try $0.rekey() }
        #expect(open.lastUses.isEmpty)
    }

    @Test("no use is recorded for a previous generation or a vault that is opened read-only")
    func readOnly() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let kept = try Vault.unlock(
            at: vault.folder.file(TestVault.own("previous")),
            with: .passphrase(TestVault.passphrase))
        kept.recordUse(of: ids[0], at: 10)
        #expect(try vault.unlock().lastUses.isEmpty)
    }
}

extension String {
    fileprivate func replacingSuffix(_ suffix: String, with other: String) -> String {
        hasSuffix(suffix) ? dropLast(suffix.count) + other : self
    }
}
