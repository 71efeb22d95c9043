import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import SecretVault

/// A file-sync program replaces the vault, and places older copies beside it.
struct SynchronizedVaultTests {
    private static let new = secret("a new passphrase")

    /// The vault as saved on another device.
    private func otherDevice(_ vault: TestVault, _ issuer: String) throws -> [UInt8] {
        let other = try TemporaryFolder()
        try TestVault.put(vault.bytes(), as: "vault", in: other)
        try Vault.unlock(at: other.file("vault"), with: .passphrase(TestVault.passphrase)).update {
            changes throws(VaultError) in
            try changes.add(
                .plainSecret(issuer: issuer, account: "", value: secret("x")), now: 0)
        }
        return try other.bytes(of: "vault")
    }

    /// Replaces the vault as a file-sync program does: renames a new file to the vault's name.
    private func replace(_ vault: TestVault, with bytes: [UInt8]) throws {
        try vault.put(bytes, as: "arriving")
        try removeFile(vault.path)
        try linkFile(vault.folder.file("arriving"), to: vault.path)
        try removeFile(vault.folder.file("arriving"))
    }

    @Test(
        "O-10 if a vault is replaced during a save or purge, the new file stays; nothing is saved",
        arguments: [false, true])
    func replacedWhileSaving(purging: Bool) throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let theirs = try otherDevice(vault, "other device")
        let open = try vault.unlock()
        var failure: (any Error)?
        #expect(throws: VaultError.changedMeanwhile) {
            try open.update { changes throws(VaultError) in
                do { try replace(vault, with: theirs) } catch { failure = error }
                try changes.remove(ids[0], purge: purging)
            }
        }
        #expect(failure == nil)
        #expect(try vault.bytes() == theirs)
        // A repeated change reads the file first, and both changes are saved.
        try open.change { try $0.remove(ids[0], purge: purging) }
        let after = try vault.unlock()
        #expect(after.entries.count == 4 && after.entries.last?.issuer == "other device")
        #expect(after.reports.isEmpty)
        let kept = TestVault.own("previous")
        #expect(try vault.files() == TestVault.files.filter { !purging || $0 != kept })
    }

    @Test("O-12 an older file that arrives while the vault is open is not adopted")
    func olderFileWhileOpen() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let old = try vault.bytes()
        let open = try vault.unlock()
        try open.change { try $0.remove(ids[0], purge: false) }
        try vault.put(old)
        #expect(throws: VaultError.changedMeanwhile) {
            try open.change { try $0.remove(ids[1], purge: false) }
        }
        #expect(throws: VaultError.changedMeanwhile) { try open.reload() }
        #expect(try vault.bytes() == old)
        #expect(open.entries.count == ids.count - 1)
    }

    @Test("O-10 if a vault is replaced while entries are being wiped, the new vault is kept")
    func replacedWhileWiping() throws {
        let vault = try TestVault()
        let id = try vault.fill()[3]
        let theirs = try otherDevice(vault, "other device")
        let read = try VaultDocument(parsing: vault.bytes())
        let wiped = try #require(
            try read.wiping([id], leaving: Tombstone(time: 9, reason: .failures)))
        var writer = try VaultWriter(VaultLocation(vault.path))
        try replace(vault, with: theirs)
        #expect(throws: VaultError.changedMeanwhile) {
            try writer.save(
                wiped.bytes, of: wiped.vaultID, replacing: read.bytes, previous: .purged)
        }
        #expect(try vault.bytes() == theirs)
    }

    @Test(
        "O-11 refusals by an older copy cause a wait, but no wipe in the vault")
    func olderCopy() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let old = try vault.bytes()
        try vault.put(old, as: "copy")
        let copy = vault.folder.file("copy")
        try vault.unlock().update { changes throws(VaultError) in
            try changes.changePassphrase(
                of: changes.slots[0], to: Self.new, cost: .lowest, now: 9)
        }
        // Three refused attempts wipe the fourth entry.
        refuse(copy, Self.new, times: 3)
        #expect(try Vault.lockOut(at: vault.path).failures == 3)
        #expect(try Vault.status(at: vault.path, since: 0).failuresUntilWipe == 3)
        let open = try Vault.unlock(at: vault.path, with: .passphrase(Self.new))
        #expect(open.entries.allSatisfy { $0.tombstone == nil })
        #expect(try open.open(ids[3]).kind == .enrolled)
        // The refusals stay counted while the copy exists.
        #expect(try Vault.lockOut(at: vault.path).failures == 3)
        try removeFile(copy)
        _ = try Vault.unlock(at: vault.path, with: .passphrase(Self.new))
        #expect(try Vault.lockOut(at: vault.path).failures == 0)
        try vault.put(old, as: "copy")
        // The vault's own refusals still wipe, regardless of refusals by a copy in between.
        refuse(vault.path, secret("wrong"), times: 2)
        refuse(copy, secret("wrong"), times: 1)
        #expect(try Vault.status(at: vault.path, since: 0).failuresUntilWipe == 1)
        refuse(vault.path, secret("wrong"), times: 1)
        #expect(try Vault.status(at: vault.path, since: 0).wiped == 1)
        #expect(try Vault.lockOut(at: vault.path).failures == 4)
    }

    @Test("O-12 an older copy that opens with a former passphrase clears only its own failures")
    func formerPassphrase() throws {
        let vault = try TestVault(recoveryKey: true)
        let ids = try vault.fill()
        try vault.put(vault.bytes(), as: "copy")
        let copy = vault.folder.file("copy")
        try vault.unlock().update { changes throws(VaultError) in
            try changes.changePassphrase(
                of: changes.slots[0], to: Self.new, cost: .lowest, now: 9)
        }
        refuse(vault.path, secret("wrong"), times: 2)
        refuse(copy, secret("wrong"), times: 1)
        let openers: [VaultOpener] = [
            .passphrase(TestVault.passphrase), .recoveryKey(try #require(vault.recoveryKey)),
        ]
        for opener in openers {
            let open = try Vault.unlock(at: copy, with: opener)
            var check = OpenerCheck(.passphrase(TestVault.passphrase), of: open)
            _ = try open.proof(&check, for: ids[3])
            #expect(try Vault.lockOut(at: vault.path).failures == 2)
        }
        refuse(vault.path, secret("wrong"), times: 1)
        #expect(try Vault.status(at: vault.path, since: 0).wiped == 1)
        // The right passphrase clears the vault's failures.
        _ = try Vault.unlock(at: vault.path, with: .passphrase(Self.new))
        #expect(try Vault.lockOut(at: vault.path).failures == 0)
    }

    @Test("refusals by a file with different slots than those last used here wipe nothing")
    func otherSlots() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let old = try vault.bytes()
        try vault.unlock().update { changes throws(VaultError) in
            try changes.changePassphrase(
                of: changes.slots[0], to: Self.new, cost: .lowest, now: 9)
        }
        let ours = try vault.bytes()
        refuse(vault.path, secret("wrong"), times: 2)
        // A file-sync program replaces the vault with the file of another device, which has the
        // former passphrase.
        try vault.put(old)
        #expect(try Vault.status(at: vault.path, since: 0).failuresUntilWipe == nil)
        refuse(vault.path, Self.new, times: 2)
        let status = try Vault.status(at: vault.path, since: 0)
        #expect(status.hasOtherSlots && status.wiped == 0 && status.lockOut.failures == 4)
        let open = try vault.unlock()
        #expect(try open.open(ids[3]).kind == .enrolled)
        // This clears the failures of that file, and from now on, its refusals count.
        #expect(try Vault.lockOut(at: vault.path).failures == 2)
        #expect(try !Vault.status(at: vault.path, since: 0).hasOtherSlots)
        #expect(try Vault.status(at: vault.path, since: 0).failuresUntilWipe == 3)
        // The refusals by the vault were not cleared.
        try vault.put(ours)
        _ = try Vault.unlock(at: vault.path, with: .passphrase(Self.new))
        #expect(try Vault.lockOut(at: vault.path).failures == 0)
        refuse(vault.path, secret("wrong"), times: 3)
        #expect(try Vault.status(at: vault.path, since: 0).wiped == 1)
    }

    @Test("another device's new slots wipe nothing, even if those here never changed")
    func unchangedSlots() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let other = try TemporaryFolder()
        try TestVault.put(vault.bytes(), as: "vault", in: other)
        try Vault.unlock(at: other.file("vault"), with: .passphrase(TestVault.passphrase)).update {
            changes throws(VaultError) in
            try changes.changePassphrase(
                of: changes.slots[0], to: Self.new, cost: .lowest, now: 9)
        }
        try vault.put(other.bytes(of: "vault"))
        refuse(vault.path, TestVault.passphrase, times: 3)
        #expect(try Vault.status(at: vault.path, since: 0).wiped == 0)
        let open = try Vault.unlock(at: vault.path, with: .passphrase(Self.new))
        #expect(try open.open(ids[3]).kind == .enrolled)
    }

    @Test("another device's new slots count once the vault was opened with them")
    func newSlots() throws {
        let vault = try TestVault()
        _ = try vault.fill()
        let other = try TemporaryFolder()
        try TestVault.put(vault.bytes(), as: "vault", in: other)
        let old = try vault.bytes()
        try Vault.unlock(at: other.file("vault"), with: .passphrase(TestVault.passphrase)).update {
            changes throws(VaultError) in
            try changes.changePassphrase(
                of: changes.slots[0], to: Self.new, cost: .lowest, now: 9)
        }
        try vault.put(other.bytes(of: "vault"))
        _ = try Vault.unlock(at: vault.path, with: .passphrase(Self.new))
        try vault.put(old)
        refuse(vault.path, Self.new, times: 3)
        #expect(try Vault.status(at: vault.path, since: 0).wiped == 0)
    }

    @Test("O-13 a wipe in a restored older file does not hide that the file is older")
    func olderFileWiped() throws {
        let vault = try TestVault()
        _ = try vault.fill()
        let old = try vault.bytes()
        try vault.unlock().update { changes throws(VaultError) in
            try changes.add(.plainSecret(issuer: "a", account: "", value: secret("x")), now: 0)
        }
        try vault.put(old)
        refuse(vault.path, secret("wrong"), times: 3)
        #expect(try Vault.status(at: vault.path, since: 0).wiped == 1)
        #expect(
            try vault.unlock().reports.contains {
                if case .olderFile = $0 { true } else { false }
            })
    }

    private func refuse(_ path: String, _ passphrase: SecretBytes, times: Int) {
        for _ in 0..<times {
            #expect(throws: VaultError.wrongPassphrase) {
                try Vault.unlock(at: path, with: .passphrase(passphrase))
            }
        }
    }
}
