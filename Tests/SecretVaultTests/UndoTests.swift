import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

struct UndoTests {
    private static let now: Int64 = 1_795_001_000

    private func undo(_ vault: TestVault, confirmed: Set<RecordID> = []) throws -> [UndoneChange] {
        let open = try vault.unlock()
        let plan = try open.planOfUndo(now: Self.now)
        try open.undo(plan, confirmed: confirmed, now: Self.now)
        return plan
    }

    /// All properties that a change can affect, in list order.
    private struct Content: Equatable {
        let id: RecordID
        let facts: Facts
        let access: AccessControl
        let details: EntryDetails
    }

    private func contents(_ vault: TestVault) throws -> [Content] {
        let open = try vault.unlock()
        return try open.entries.map { entry in
            Content(
                id: entry.id, facts: Facts(try open.open(entry.id)), access: entry.accessControl,
                details: entry.details)
        }
    }

    private func refused(_ vault: TestVault, _ reason: NothingToUndo) throws {
        let bytes = try vault.bytes()
        #expect(throws: VaultError.nothingToUndo(reason)) {
            try vault.unlock().planOfUndo(now: Self.now)
        }
        #expect(try vault.bytes() == bytes)
    }

    @Test("removed, edited and renamed entries return; undoing again brings the change back")
    func everyChange() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let before = try contents(vault)
        try vault.unlock().update { changes throws(VaultError) in
            try changes.remove(ids[0], purge: false)
            try changes.rename(ids[1], issuer: "Bank", account: "new")
            try changes.replace(
                ids[2],
                with: .plainSecret(issuer: "Wi-Fi", account: "home", value: secret("changed")))
            try changes.setDetails(of: ids[3], to: EntryDetails(tags: ["t"], note: "n"))
            try changes.setAccessControl(
                of: ids[3], to: .init(presence: .perUnlock, onFailure: .lockOut))
            try changes.add(
                .plainSecret(issuer: "new", account: "", value: secret("new")), now: Self.now)
        }
        let after = try contents(vault)
        let generation = try vault.unlock().generation
        let plan = try undo(vault)
        #expect(try contents(vault) == before)
        #expect(try vault.unlock().generation == generation + 1)
        #expect(
            plan.map(\.action) == [
                .restored, .changedBack([.name]), .changedBack([.secret]),
                .changedBack([.details, .accessControl]), .removed,
            ])
        #expect(plan[1].renamedFrom == EntryNames(issuer: "Bank", account: "new"))
        let redone = try undo(vault)
        let again = try contents(vault)
        #expect(again == after)
        #expect(redone.first?.action == .changedBack([.name]))
        #expect(redone.suffix(2).map(\.action) == [.restored, .removed])
    }

    @Test("undoing never lowers a counter, used or set; the rest of an edit is undone")
    func counters() throws {
        let vault = try TestVault()
        let id = try vault.fill()[1]
        let open = try vault.unlock()
        _ = try open.nextHOTP(id, proof: open.proofOfUnlocking(for: id))
        try refused(vault, .onlyAdvanced)
    }

    private func setCounter(_ counter: UInt64, of id: RecordID, in vault: TestVault) throws {
        try vault.unlock().update { changes throws(VaultError) in
            guard case .oneTimePassword(let credential) = try changes.content(of: id) else {
                throw .otherKind
            }
            try changes.replace(
                id, with: .oneTimePassword(credential.moved(to: counter)))
        }
    }

    @Test("of two counters, undoing keeps the greater; a new key returns with its own counter")
    func greaterCounter() throws {
        let vault = try TestVault()
        let id = try vault.fill()[1]
        try setCounter(99, of: id, in: vault)
        try refused(vault, .onlyAdvanced)
        try setCounter(7, of: id, in: vault)
        _ = try undo(vault)
        #expect(try vault.unlock().counter(of: id) == 99)
        let old = try contents(vault)[1]
        let other = try Credential(
            issuer: "Bänk", account: "x", key: secret("quite another key"), algorithm: .sha1,
            style: .decimal(.six), movingFactor: .counter(200))
        try vault.unlock().change { try $0.replace(id, with: .oneTimePassword(other)) }
        #expect(try undo(vault).map(\.action) == [.changedBack([.name, .secret])])
        #expect(try contents(vault)[1] == old)
    }

    @Test("an enrolled secret keeps its newest state; its name and access control return")
    func enrolled() throws {
        let vault = try TestVault()
        let id = try vault.fill()[3]
        let next = EntryContent.enrolledSecret(
            issuer: "shop", account: "alice", value: secret("wws_next"))
        try vault.unlock().change { try $0.advance(id, to: next) }
        try refused(vault, .onlyAdvanced)
        try vault.unlock().update { changes throws(VaultError) in
            try changes.rename(id, issuer: "shop", account: "bob")
            try changes.advance(
                id,
                to: .enrolledSecret(issuer: "shop", account: "bob", value: secret("wws_newest")))
        }
        #expect(try undo(vault).map(\.action) == [.changedBack([.name])])
        let facts = try contents(vault)[3].facts
        #expect(facts.account == "alice" && facts.secret == Array("wws_newest".utf8))
    }

    @Test("an enrolment is not undone, but other changes in the same save are")
    func enrolment() throws {
        let vault = try TestVault()
        _ = try vault.fill()
        try refused(vault, .enrolment)
        let contents = try TestVault.contents().suffix(2)
        try vault.unlock().update { changes throws(VaultError) in
            for content in contents { try changes.add(content, now: Self.now) }
        }
        #expect(try undo(vault).map(\.action) == [.removed, .kept])
        #expect(try vault.unlock().entries.map(\.kind).suffix(2) == [.enrolled, .enrolled])
    }

    @Test("a wiped entry stays wiped, and a removed one returns without its secret")
    func wiped() throws {
        let vault = try TestVault()
        let id = try vault.fill()[3]
        try vault.unlock().change { try $0.wipe(id, because: .revoked, now: Self.now) }
        // Wiping purges the previous generation.
        try refused(vault, .noPrevious)
        try vault.unlock().change { try $0.rename(id, issuer: "renamed", account: "") }
        #expect(try undo(vault).map(\.action) == [.changedBack([.name])])
        try vault.unlock().change { try $0.remove(id, purge: false) }
        #expect(try undo(vault).map(\.action) == [.restored])
        let entry = try #require(try vault.unlock().entries.last)
        #expect(entry.id == id && entry.tombstone?.reason == .revoked && entry.issuer == "shop")
    }

    @Test("an entry that was wiped without the key, and then removed, does not return as wiped")
    func wipedWithoutKey() throws {
        let vault = try TestVault()
        let id = try vault.fill()[0]
        let open = try vault.unlock()
        let tombstone = Tombstone(time: 50, reason: .failures)
        let document = try VaultDocument(parsing: vault.bytes())
        try vault.put(#require(try document.wiping([id], leaving: tombstone)).bytes)
        try open.change { try $0.remove(id, purge: false) }
        // The file with the tombstone must not have become the previous generation.
        try refused(vault, .notPredecessor)
        // The entry does not return if only the previous generation was changed, and another change
        // can be undone.
        let ids = try vault.unlock().entries.map(\.id)
        try vault.unlock().update { changes throws(VaultError) in
            for id in ids.prefix(2) { try changes.remove(id, purge: false) }
        }
        let previous = try VaultDocument(
            parsing: vault.folder.bytes(of: TestVault.own("previous")))
        let forged = try #require(try previous.wiping([ids[0]], leaving: tombstone))
        try vault.put(forged.bytes, as: TestVault.own("previous"))
        #expect(try undo(vault).map(\.id) == [ids[1]])
        #expect(try vault.unlock().entries.map(\.id) == Array(ids.dropFirst()))
    }

    @Test("nothing can be undone after a purge or a rekey, or with another vault's file")
    func unusable() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let older = try vault.bytes()
        try vault.unlock().change { try $0.remove(ids[0], purge: true) }
        try refused(vault, .noPrevious)
        let previous = TestVault.own("previous")
        try vault.put(older, as: previous)
        // This is the file that was replaced, but its key is not available after a rekey.
        try vault.unlock().change { try $0.rekey() }
        try refused(vault, .noPrevious)
        try vault.put(older, as: previous)
        try refused(vault, .rekeyed)
        try vault.put(TestVault().bytes(), as: previous)
        try refused(vault, .notPredecessor)
    }

    @Test("the previous generation must be the one that the last change replaced")
    func predecessor() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let older = try vault.bytes()
        for name in ["a", "b"] {
            try vault.unlock().change { try $0.rename(ids[0], issuer: name, account: "") }
        }
        try vault.put(older, as: TestVault.own("previous"))
        try refused(vault, .notPredecessor)
        // A copy that was changed elsewhere replaces the vault.
        let copy = try TestVault()
        _ = try copy.fill()
        try vault.put(older)
        try refused(vault, .notPredecessor)
    }

    @Test("a change of slots alone is not undone, and stays when a change of entries is undone")
    func slots() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        try vault.unlock().update { changes throws(VaultError) in
            try changes.addPassphrase(secret("second"), cost: .lowest, now: Self.now)
        }
        try refused(vault, .noEntry)
        try vault.unlock().update { changes throws(VaultError) in
            try changes.remove(ids[0], purge: false)
            try changes.addPassphrase(secret("third"), cost: .lowest, now: Self.now)
        }
        _ = try undo(vault)
        #expect(try vault.unlock().slots.count == 3)
        let open = try Vault.unlock(at: vault.path, with: .passphrase(secret("third")))
        #expect(open.entries.map(\.id) == ids)
    }

    @Test("an entry that requires a check at each use is changed back only after that check")
    func checks() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let strict = AccessControl(presence: .perUse(.passphrase), onFailure: .lockOut)
        try vault.unlock().update { changes throws(VaultError) in
            try changes.setAccessControl(of: ids[0], to: strict)
            try changes.rename(ids[2], issuer: "renamed", account: "")
        }
        let bytes = try vault.bytes()
        let open = try vault.unlock()
        let plan = try open.planOfUndo(now: Self.now)
        #expect(plan.filter(\.requiresCheck).map(\.id) == [ids[0]])
        #expect(throws: VaultError.presenceNeeded) {
            try open.undo(plan, confirmed: [ids[2]], now: Self.now)
        }
        #expect(try vault.bytes() == bytes)
        _ = try undo(vault, confirmed: [ids[0]])
        #expect(try vault.unlock().entries[0].accessControl.presence == .perUnlock)
        // A removed entry returns without a check, with its access control.
        try vault.unlock().change { try $0.setAccessControl(of: ids[0], to: strict) }
        try vault.unlock().change { try $0.remove(ids[0], purge: false) }
        #expect(try undo(vault).filter(\.requiresCheck).isEmpty)
        #expect(try vault.unlock().entries[0].accessControl == strict)
        func asked(
            after change: (inout VaultChanges) throws(VaultError) -> Void
        ) throws -> [RecordID] {
            try vault.unlock().update(change)
            return try vault.unlock().planOfUndo(now: Self.now).filter(\.requiresCheck).map(\.id)
        }
        // Renaming and removing the entry require a check, too; changing its details does not.
        #expect(
            try asked { changes throws(VaultError) in
                try changes.rename(ids[0], issuer: "renamed", account: "")
            } == [ids[0]])
        #expect(
            try asked { changes throws(VaultError) in
                try changes.setDetails(of: ids[0], to: EntryDetails(note: "n"))
            }.isEmpty)
        let added = try vault.unlock().update { changes throws(VaultError) in
            try changes.add(
                .plainSecret(issuer: "a", account: "", value: secret("x")), accessControl: strict,
                now: Self.now)
        }
        let removal = try vault.unlock().planOfUndo(now: Self.now)
        #expect(removal.map(\.action) == [.removed])
        #expect(removal.filter(\.requiresCheck).map(\.id) == [added])
    }

    @Test("a plan changes nothing if another process has changed the vault since")
    func overtaken() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        try vault.unlock().change { try $0.remove(ids[0], purge: false) }
        let open = try vault.unlock()
        let plan = try open.planOfUndo(now: Self.now)
        try vault.unlock().change { try $0.rename(ids[1], issuer: "other", account: "") }
        let bytes = try vault.bytes()
        #expect(throws: VaultError.busy) { try open.undo(plan, confirmed: [], now: Self.now) }
        #expect(try vault.bytes() == bytes)
    }

    @Test("a damaged previous generation is an error, and the vault is not changed")
    func damaged() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        try vault.unlock().change { try $0.remove(ids[0], purge: false) }
        let bytes = try vault.bytes()
        let previous = TestVault.own("previous")
        var damaged = try vault.folder.bytes(of: previous)
        damaged[damaged.count / 2] ^= 1
        try vault.put(damaged, as: previous)
        #expect(throws: VaultError.self) { try vault.unlock().planOfUndo(now: Self.now) }
        #expect(try vault.bytes() == bytes)
        #expect(try vault.unlock().entries.count == 3)
    }
}
