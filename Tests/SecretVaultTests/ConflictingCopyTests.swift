import Glibc
import TestSupport
import Testing
import WatchwordSystem

@testable import SecretVault

struct ConflictingCopyTests {
    static let names: [(String, of: String)] = [
        ("vault.sync-conflict-20261122-101010-ABCDEFG", "vault"),
        ("work.sync-conflict-20261122-101010-ABCDEFG.vault", "work.vault"),
        ("vault (conflicted copy 2026-11-22)", "vault"),
        ("vault (Ivan's conflicted copy 2026-11-22)", "vault"),
        ("vault (Ivan's Conflicted Copy)", "vault"),
        ("work (conflicted copy 2026-11-22 101010).vault", "work.vault"),
        ("vault (SFConflict ivan@example.com 2026-11-22-10-10-10)", "vault"),
        ("vault_conflict-20261122-101010", "vault"), ("vault.conflict1", "vault"),
        ("work.vault.conflict2", "work.vault"), ("vault_BACKUP_4711", "vault"),
        ("work_LOCAL_4711.vault", "work.vault"), ("vault_REMOTE_1", "vault"),
        ("work_BASE_1.vault", "work.vault"), ("vault.orig", "vault"),
        ("work.vault.orig", "work.vault"), (".vault.orig", ".vault"),
    ]

    @Test("names of copies that other programs keep after a conflict are recognised")
    func recognised() {
        for (name, original) in Self.names {
            #expect(ConflictingName.isName(name, ofCopyOf: original), "\(name)")
            #expect(!ConflictingName.isName(name, ofCopyOf: "other"), "\(name)")
            #expect(!ConflictingName.isName(original, ofCopyOf: name), "\(name)")
        }
    }

    @Test("files with unrelated names beside a vault are not treated as copies")
    func others() {
        for name in [
            "vault", "vault.bak", "vault2", "vault~", "vault (1)", "vault.txt", "vault.origin",
            "vault_LOCAL_x", "vault.sync", "my vault.sync-conflict-20261122-101010-ABCDEFG",
            "vault conflicted copy", "vault (a copy)", "Vault.orig", "",
        ] {
            #expect(!ConflictingName.isName(name, ofCopyOf: "vault"), "\(name)")
        }
        #expect(!ConflictingName.isName("work_LOCAL_1.txt", ofCopyOf: "work.vault"))
    }

    @Test("a copy with this vault's ID is reported, whatever its permissions; other files are not")
    func reported() throws {
        let vault = try TestVault()
        let other = try TestVault()
        let bytes = try vault.bytes()
        try vault.put(bytes, as: "vault.orig")
        try setMode(0o644, of: vault.folder.file("vault.orig"))
        try vault.put(other.bytes(), as: "vault_LOCAL_1")
        try vault.put(Array(bytes.prefix(20)), as: "vault_LOCAL_2")
        try vault.put([], as: "vault_LOCAL_3")
        try makeFolder(vault.folder.file("vault_LOCAL_4"))
        try vault.put(bytes, as: "copy")
        let path = vault.folder.file("vault.orig")
        let opened = try vault.unlock()
        #expect(opened.reports == [.conflictingCopy(path: path)])
        // If the copy itself is opened, it is not reported.
        try setMode(0o600, of: path)
        let copy = try Vault.unlock(at: path, with: .passphrase(TestVault.passphrase))
        #expect(copy.reports.isEmpty)
        // A vault that stays open no longer reports a copy that was removed.
        try removeFile(path)
        #expect(opened.reports.isEmpty)
    }

    @Test("a copy whose name is not UTF-8 is reported")
    func notUTF8() throws {
        let vault = try TestVault()
        try vault.put(vault.bytes(), as: "copy")
        // The file name is encoded in Latin-1.
        let path =
            Array(vault.folder.file("vault (Jos").utf8) + [0xE9]
            + Array("'s conflicted copy)".utf8) + [0]
        let bytes = path.map { CChar(bitPattern: $0) }
        try #require(unsafe rename(vault.folder.file("copy"), bytes) == 0)
        defer { unsafe unlink(bytes) }
        let repaired = vault.folder.file("vault (Jos\u{FFFD}'s conflicted copy)")
        #expect(try vault.unlock().reports == [.conflictingCopy(path: repaired)])
    }

    @Test("a copy in which an entry was wiped is reported, even if the vault includes its saves")
    func wiped() throws {
        let vault = try TestVault()
        let id = try vault.fill()[0]
        let document = try VaultDocument(parsing: vault.bytes())
        let tombstone = Tombstone(time: 50, reason: .failures)
        let copy = try #require(try document.wiping([id], leaving: tombstone))
        try vault.put(copy.bytes, as: "vault.orig")
        let path = vault.folder.file("vault.orig")
        #expect(try vault.unlock().reports == [.conflictingCopy(path: path)])
    }

    @Test("a copy with a different key is reported as such, because that key may be newer")
    func rekeyed() throws {
        let vault = try TestVault()
        let common = try vault.bytes()
        try vault.unlock().change { try $0.rekey() }
        try vault.put(vault.bytes(), as: "vault.orig")
        try vault.put(common)
        let reports = try vault.unlock().reports
        #expect(reports.contains(.rekeyedCopy(path: vault.folder.file("vault.orig"))))
    }

    @Test("a save that erases older files reports the copies that still have the secret")
    func notErased() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        try vault.unlock().update { changes throws(VaultError) in
            let access = AccessControl(presence: .perUnlock, onFailure: .wipe(after: .three))
            try changes.setAccessControl(of: ids[1], to: access)
        }
        try vault.put(vault.bytes(), as: "vault.orig")
        let report = VaultReport.copyNotErased(path: vault.folder.file("vault.orig"))
        let open = try vault.unlock()
        try open.change { try $0.remove(ids[0], purge: true) }
        #expect(open.saveReports == [report])
        try open.change { try $0.remove(ids[2], purge: false) }
        #expect(open.saveReports.isEmpty)
        for _ in 1...3 { vault.expectRefusal() }
        #expect(try vault.unlock().saveReports == [report])
        #expect(try vault.unlock().saveReports.isEmpty)
        #expect(try Vault.purge(vault.path, in: Vault.identity(at: vault.path)) == [report])
    }

    @Test("beyond a limit, copies are reported without being read")
    func limit() throws {
        let vault = try TestVault()
        let bytes = try vault.bytes()
        for number in 1...4 { try vault.put(bytes, as: "vault_LOCAL_\(number)") }
        let open = try vault.unlock()
        #expect(open.reports.isEmpty)
        let folder = try Folder(opening: vault.folder.path)
        let reports = try VaultLocation(vault.path).conflictingCopies(
            of: open.state, with: open.key, in: folder, reading: 2 * bytes.count)
        #expect(
            reports
                == [3, 4].map {
                    .conflictingCopy(path: vault.folder.file("vault_LOCAL_\($0)"))
                })
    }

    @Test("of many copies, 16 are reported, those that the key opens first; included ones are not")
    func many() throws {
        let vault = try TestVault()
        let common = try vault.bytes()
        try vault.unlock().update { changes throws(VaultError) in
            try changes.add(.plainSecret(issuer: "a", account: "", value: secret("x")), now: 0)
        }
        let bytes = try vault.bytes()
        try vault.put(bytes, as: "vault.orig")
        // The vault includes the copy.
        #expect(try vault.unlock().reports.isEmpty)
        try removeFile(vault.folder.file("vault.orig"))
        try removeFile(vault.folder.file(TestVault.own("generation")))
        try vault.put(common)
        // The file contains only the beginning of a copy, which anyone could have placed there.
        let start = Array(bytes.prefix(200))
        for number in 1...20 { try vault.put(start, as: "vault_LOCAL_\(number)") }
        try vault.put(bytes, as: "vault_REMOTE_1")
        let reports = try vault.unlock().reports
        #expect(reports.count == 17)
        #expect(reports[0] == .conflictingCopy(path: vault.folder.file("vault_REMOTE_1")))
        #expect(reports[16] == .moreConflictingCopies(count: 5))
    }
}
