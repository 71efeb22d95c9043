import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import SecretVault

/// An attacker who can write the vault file, but does not have its key, changes the unencrypted
/// lines.
struct ForgedLineTests {
    private static let previous = TestVault.own("previous")
    private static let former = ".watchword/by-name/former/previous"

    /// Replaces the vault with a file whose header lines were changed; the key does not
    /// authenticate them.
    private func forge(_ vault: TestVault, _ change: (String) -> String?) throws {
        let lines = String(decoding: try vault.bytes(), as: UTF8.self).split(separator: "\n")
        let body = lines.dropLast().compactMap { change(String($0)) }.joined(separator: "\n") + "\n"
        let bytes = Array(body.utf8)
        try vault.put(bytes + VaultEnvelope.lastLine(for: bytes[...]))
    }

    /// Changes the access control of every entry of the vault.
    private func forgeWipe(_ vault: TestVault) throws {
        try forge(vault) { line in
            if line.hasPrefix("generation ") { return "generation 1000" }
            guard line.hasPrefix("record ") else { return line }
            return line.split(separator: " ").dropLast().joined(separator: " ") + " wipe:1"
        }
    }

    /// A vault with four entries that failures lock, and with older files under both names.
    private func made(rekeyed: Bool = false) throws -> (TestVault, [RecordID]) {
        let vault = try TestVault(recoveryKey: true)
        let ids = try vault.fill()
        if rekeyed {
            try vault.unlock().change { try $0.rekey() }
        }
        for name in ["a", "b"] {
            try vault.unlock().update { changes throws(VaultError) in
                try changes.setAccessControl(of: ids[3], to: .standard(for: .totp))
                try changes.rename(ids[2], issuer: name, account: "")
            }
        }
        try vault.put(vault.folder.bytes(of: Self.previous), as: Self.former)
        return (vault, ids)
    }

    @Test("forged record lines cause no wipe in the older files", arguments: [false, true])
    func forgedLimit(failsBefore: Bool) throws {
        let (vault, _) = try made()
        let kept = try [Self.previous, Self.former].map { try vault.folder.bytes(of: $0) }
        if failsBefore { vault.expectRefusal() }
        try forgeWipe(vault)
        _ = try Vault.lockOut(at: vault.path)
        let damaged = VaultError.damaged(.header)
        #expect(throws: damaged) { try vault.unlock() }
        let key = try #require(vault.recoveryKey)
        #expect(throws: damaged) { try Vault.unlock(at: vault.path, with: .recoveryKey(key)) }
        for _ in 1...2 { vault.expectRefusal() }
        #expect(try VaultDocument(parsing: vault.bytes()).changes == 4)
        #expect(try [Self.previous, Self.former].map { try vault.folder.bytes(of: $0) } == kept)
    }

    @Test("an older file in which an entry is set to be wiped causes no wipe in newer files")
    func olderLimit() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let old = try vault.bytes()
        for name in ["a", "b"] {
            try vault.unlock().update { changes throws(VaultError) in
                try changes.setAccessControl(of: ids[3], to: .standard(for: .totp))
                try changes.rename(ids[2], issuer: name, account: "")
            }
        }
        let kept = try vault.folder.bytes(of: Self.previous)
        try vault.put(old)
        for _ in 1...3 { vault.expectRefusal() }
        #expect(try VaultDocument(parsing: vault.bytes()).changes == 1)
        let open = try vault.unlock()
        #expect(open.reports.contains(.vanished(ids[3])))
        #expect(try vault.attempts().isEmpty)
        try open.change { try $0.rename(ids[0], issuer: "c", account: "") }
        #expect(try vault.unlock().reports.contains(.vanished(ids[3])))
        #expect(try vault.folder.bytes(of: Self.previous) == kept)
    }

    @Test(
        "failures wipe an entry in the older files, too, if it was set to be wiped here since",
        arguments: [false, true])
    func newLimit(rekeyed: Bool) throws {
        let (vault, ids) = try made(rekeyed: rekeyed)
        let box = try vault.box(of: ids[0])
        let access = AccessControl(presence: .perUnlock, onFailure: .wipe(after: .three))
        try vault.unlock().change { try $0.setAccessControl(of: ids[1], to: access) }
        let resealed = try vault.box(of: ids[1])
        for _ in 1...3 { vault.expectRefusal() }
        #expect(try vault.holders(of: resealed) == [])
        #expect(try VaultDocument(parsing: vault.folder.bytes(of: Self.previous)).changes == 1)
        #expect(try !vault.files().contains(Self.former))
        #expect(try vault.holders(of: box) == ["vault", Self.previous].sorted())
    }

    /// Opens this older file, and tries to check presence for the entry.
    private func expectWiped(_ id: RecordID, in path: String) throws {
        let open = try Vault.unlock(at: path, with: .passphrase(TestVault.passphrase))
        var check = Refusing()
        #expect(throws: NoProof<Never>.vault(.wiped)) {
            _ = try open.proof(&check, for: id)
        }
    }

    @Test(
        "a wipe in a file from another device reaches the older files, even if one was opened first",
        arguments: [nil, Self.previous, "older"])
    func otherDevice(opened: String?) throws {
        let (vault, ids) = try made()
        let box = try vault.box(of: ids[0])
        let older = try vault.folder.bytes(of: Self.previous)
        let other = try TemporaryFolder()
        try TestVault.put(vault.bytes(), as: "vault", in: other)
        let access = AccessControl(presence: .perUnlock, onFailure: .wipe(after: .three))
        try Vault.unlock(at: other.file("vault"), with: .passphrase(TestVault.passphrase)).update {
            changes throws(VaultError) in try changes.setAccessControl(of: ids[0], to: access)
        }
        try vault.put(other.bytes(of: "vault"))
        for _ in 1...3 { vault.expectRefusal() }
        #expect(try vault.holders(of: box) == [Self.former, Self.previous])
        if let opened {
            if opened == "older" { try vault.put(older, as: opened) }
            let path = vault.folder.file(opened)
            try expectWiped(ids[0], in: path)
            if opened == "older" { try removeFile(path) }
        }
        let open = try vault.unlock()
        #expect(open.reports.map(\.entry) == [ids[0]] && open.entries[0].tombstone != nil)
        #expect(try vault.holders(of: box) == [])
    }

    @Test("if a vault was only opened here, a file with different slots wipes nothing")
    func otherSlots() throws {
        let source = try TestVault()
        let id = try source.fill()[3]
        let old = try source.bytes()
        let cost = ScryptCost.lowest
        try source.unlock().update { changes throws(VaultError) in
            let slot = changes.slots[0]
            try changes.changePassphrase(of: slot, to: secret("new"), cost: cost, now: 1)
        }
        // The vault reaches this device by synchronisation.
        let folder = try TemporaryFolder()
        let path = folder.file("vault")
        try TestVault.put(source.bytes(), as: "vault", in: folder)
        _ = try Vault.unlock(at: path, with: .passphrase(secret("new")))
        try TestVault.put(old, as: "vault", in: folder)
        for _ in 1...3 {
            #expect(throws: VaultError.wrongPassphrase) {
                try Vault.unlock(at: path, with: .passphrase(secret("new")))
            }
        }
        let open = try Vault.unlock(at: path, with: .passphrase(TestVault.passphrase))
        #expect(open.entries.allSatisfy { $0.id != id || $0.tombstone == nil })
    }

    @Test("wrong guesses on the previous generation wipe the entries of the vault, too")
    func guessedPrevious() throws {
        let (vault, ids) = try made()
        let access = AccessControl(presence: .perUnlock, onFailure: .wipe(after: .three))
        for name in ["c", "d"] {
            try vault.unlock().update { changes throws(VaultError) in
                try changes.setAccessControl(of: ids[0], to: access)
                try changes.rename(ids[2], issuer: name, account: "")
            }
        }
        for _ in 1...3 {
            #expect(throws: VaultError.wrongPassphrase) {
                try Vault.unlock(
                    at: vault.folder.file(Self.previous), with: .passphrase(secret("wrong")))
            }
        }
        for name in ["vault", Self.previous] {
            #expect(try VaultDocument(parsing: vault.folder.bytes(of: name)).changes == 1)
        }
    }

    @Test("a file without records clears no failures and no wait of an entry")
    func noRecords() throws {
        let (vault, ids) = try made()
        let document = try VaultDocument(parsing: vault.bytes())
        let counter = try AttemptCounter(VaultLocation(vault.path), of: document.vaultID)
        var attempts = try counter.read()
        for _ in 0..<LockOutPolicy.failuresUntilWait {
            attempts.addRefusal(
                of: document.records[0].subject, by: document.slotsDigest, at: .now())
        }
        try counter.save(attempts)
        _ = consume counter
        let good = try vault.bytes()
        try forge(vault) { line in
            ["record ", "sealed "].contains { line.hasPrefix($0) } ? nil : line
        }
        vault.expectRefusal()
        #expect(throws: VaultError.damaged(.recordRemoved(ids[0]))) { try vault.unlock() }
        try vault.put(good)
        let open = try vault.unlock()
        #expect(try vault.attempts().records == attempts.records)
        #expect(try open.lockOut(of: ids[0]).failures == 5)
    }

    @Test("after one failure, a forged tombstone is not reported as a wipe")
    func forgedTombstone() throws {
        let vault = try TestVault()
        let id = try vault.fill()[3]
        let document = try VaultDocument(parsing: vault.bytes())
        let tombstone = Tombstone(time: Int64.max, reason: .failures)
        let forged = try document.wiping([id], leaving: tombstone)
        try vault.put(try #require(forged).bytes)
        vault.expectRefusal()
        #expect(try Vault.status(at: vault.path, since: 0).wiped == 0)
    }
}
