import Foundation
import TestSupport
import Testing
import WatchwordSystem

@testable import SecretVault

/// Purges and wipes of a renamed vault.
struct RenamedVaultTests {
    private static let oldPrevious = ".watchword/by-name/vault/previous"

    /// A vault with a previous generation that was renamed to `renamed`.
    private func renamed() throws -> (vault: TestVault, path: String, ids: [RecordID]) {
        let vault = try TestVault()
        let open = try vault.unlock()
        let ids = try ["alice", "bob"].map { name in
            // An enrolled secret is wiped after three refused attempts.
            try open.update { changes throws(VaultError) in
                try changes.add(
                    .enrolledSecret(issuer: name, account: "", value: secret("x")), now: 0)
            }
        }
        let path = vault.folder.file("renamed")
        try FileManager.default.moveItem(atPath: vault.path, toPath: path)
        return (vault, path, ids)
    }

    private func open(_ path: String) throws(VaultError) -> UnlockedVault {
        try Vault.unlock(at: path, with: .passphrase(TestVault.passphrase))
    }

    private func purge(_ id: RecordID, from path: String) throws {
        try open(path).change { try $0.remove(id, purge: true) }
    }

    private func generations(_ vault: TestVault) throws -> [String] {
        try vault.files().filter { $0.contains("previous") || $0.hasSuffix("/new") }
    }

    @Test("O-12 wiping and purging leave nothing under the vault's former names")
    func purging() throws {
        let (wiped, path, _) = try renamed()
        #expect(try generations(wiped) == [Self.oldPrevious])
        for _ in 1...3 {
            #expect(throws: VaultError.wrongPassphrase) {
                try Vault.unlock(at: path, with: .passphrase(secret("wrong")))
            }
        }
        #expect(try generations(wiped) == [])
        let (purged, other, ids) = try renamed()
        try purge(ids[0], from: other)
        #expect(try generations(purged) == [])
        #expect(try open(other).entries.map(\.issuer) == ["bob"])
    }

    @Test("O-12 a wipe also erases a generation under a former name that did not require the wipe")
    func wipedLater() throws {
        let vault = try TestVault()
        let open = try vault.unlock()
        let id = try open.change {
            try $0.add(.plainSecret(issuer: "alice", account: "", value: secret("x")), now: 0)
        }
        let access = AccessControl(presence: .perUnlock, onFailure: .wipe(after: .three))
        try open.change { try $0.setAccessControl(of: id, to: access) }
        // Nothing is recorded under the new name yet.
        let path = vault.folder.file("renamed")
        try FileManager.default.moveItem(atPath: vault.path, toPath: path)
        #expect(try generations(vault) == [Self.oldPrevious])
        for _ in 1...3 {
            #expect(throws: VaultError.wrongPassphrase) {
                try Vault.unlock(at: path, with: .passphrase(secret("wrong")))
            }
        }
        #expect(try generations(vault) == [])
    }

    @Test("O-12 a purge examines a former name that differs only in its bytes")
    func canonicallyEqual() throws {
        let (vault, path, ids) = try renamed()
        let (former, name) = ("cafe\u{301}", "caf\u{E9}")
        try #require(former == name)
        let parts = vault.folder.file(".watchword/by-name/")
        try FileManager.default.moveItem(atPath: parts + "vault", toPath: parts + former)
        try FileManager.default.moveItem(atPath: path, toPath: vault.folder.file(name))
        try purge(ids[0], from: vault.folder.file(name))
        #expect(try generations(vault) == [])
    }

    @Test("O-12 a writer that is killed after a purge leaves nothing under a former name")
    func killed() throws {
        let (vault, path, _) = try renamed()
        var writer = try VaultWriter(VaultLocation(path))
        let bytes = try writer.read()
        let vaultID = try VaultDocument(parsing: bytes).vaultID
        try writer.save(bytes, of: vaultID, replacing: bytes, previous: .purged)
        #expect(try !generations(vault).contains(Self.oldPrevious))
    }

    @Test("O-12 leftovers of a killed writer under a former name do not prevent purging")
    func sharedBlocks() throws {
        let (vault, path, ids) = try renamed()
        let leftover = vault.folder.file(Self.oldPrevious + ".new")
        try FileManager.default.linkItem(atPath: path, toPath: leftover)
        try purge(ids[0], from: path)
        #expect(try generations(vault) == [])
        #expect(try open(path).entries.map(\.issuer) == ["bob"])
    }

    @Test("a renamed vault is compared with the record under its former name, but a copy is not")
    func compared() throws {
        let (vault, path, _) = try renamed()
        let newest = try vault.folder.bytes(of: "renamed")
        let old = try vault.folder.bytes(of: Self.oldPrevious)
        func record(_ name: String) throws -> GenerationRecord? {
            try GenerationRecord.read(of: VaultLocation(vault.folder.file(name)))
        }
        let older = VaultReport.olderFile(generation: 2, newest: 3)
        try vault.put(old, as: "renamed")
        #expect(try open(path).reports == [older])
        #expect(try record("renamed") == nil)
        try vault.put(newest, as: "renamed")
        let held = try open(path)
        #expect(held.reports.isEmpty)
        #expect(try record("renamed")?.save?.generation == 3)
        #expect(try record("renamed") == record("vault"))
        // From now on, only the record under the present name counts.
        try removeFile(vault.folder.file(TestVault.own("generation")))
        try vault.put(old, as: "renamed")
        #expect(try open(path).reports == [older])
        #expect(try !held.refresh())
        try vault.put(old, as: "copy")
        #expect(try open(vault.folder.file("copy")).reports.isEmpty)
        // A save under the next name is newer than all earlier files.
        let last = vault.folder.file("last")
        try FileManager.default.moveItem(atPath: path, toPath: last)
        try open(last).update { changes throws(VaultError) in
            try changes.add(.plainSecret(issuer: "x", account: "", value: secret("x")), now: 0)
        }
        #expect(try open(last).generation == 4)
    }

    @Test("O-12 a copy of the vault, and another vault's files, keep their previous generation")
    func others() throws {
        let (vault, path, ids) = try renamed()
        try vault.put(vault.folder.bytes(of: "renamed"))
        let foreign = ".watchword/by-name/gone/previous"
        try vault.put(TestVault().bytes(), as: foreign)
        let kept = try vault.folder.bytes(of: Self.oldPrevious)
        try purge(ids[0], from: path)
        #expect(try vault.folder.bytes(of: Self.oldPrevious) == kept)
        #expect(try generations(vault) == [foreign, Self.oldPrevious])
    }

    @Test("O-12 a lock held under a former name is reported, and the change is saved")
    func locked() throws {
        let (vault, path, ids) = try renamed()
        let own = try Folder(opening: vault.folder.file(".watchword/by-name/vault"))
        let lock = try FileLock("lock", in: own, timeout: .zero)
        let busy = FileLock.busyFailure
        #expect(throws: VaultError.previousNotErased(busy)) { try purge(ids[0], from: path) }
        #expect(try open(path).entries.map(\.issuer) == ["bob"])
        _ = consume lock
        try purge(ids[1], from: path)
        #expect(try generations(vault) == [])
    }

    @Test("O-12 a wipe while a lock is held under a former name is reported, and completed later")
    func lockedWipe() throws {
        let (vault, path, _) = try renamed()
        let own = try Folder(opening: vault.folder.file(".watchword/by-name/vault"))
        let lock = try FileLock("lock", in: own, timeout: .zero)
        func guess() throws(VaultError) {
            _ = try Vault.unlock(at: path, with: .passphrase(secret("wrong")))
        }
        for _ in 1...2 { #expect(throws: VaultError.wrongPassphrase) { try guess() } }
        #expect(throws: VaultError.previousNotErased(FileLock.busyFailure)) { try guess() }
        _ = consume lock
        _ = try open(path)
        #expect(try !generations(vault).contains(Self.oldPrevious))
    }

    @Test(
        "O-12 a generation under a former name is treated as unrelated if other users can read it")
    func readable() throws {
        let (vault, path, ids) = try renamed()
        try setMode(0o644, of: vault.folder.file(Self.oldPrevious))
        #expect(throws: VaultError.inTheWay(name: Self.oldPrevious)) {
            try purge(ids[0], from: path)
        }
        #expect(try open(path).entries.map(\.issuer) == ["alice", "bob"])
    }
}
