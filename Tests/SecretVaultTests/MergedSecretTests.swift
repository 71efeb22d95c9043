import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

// Merges that must not lose a secret.
extension MergeTests {
    @Test("a key changed on one side is never dropped in favour of a later edit on the other")
    func changedKey() throws {
        let copies = try Copies()
        let id = copies.ids[2]
        let new = EntryContent.plainSecret(
            issuer: "Wi-Fi", account: "home", value: secret("the new password"))
        try copies.here { try $0.replace(id, with: new, now: 100) }
        try copies.there { try $0.setDetails(of: id, to: EntryDetails(tags: ["later"]), now: 5000) }
        let (old, changed) = (try copies.unlockedCopy().open(id), Facts(new))
        let plan = try copies.merge()
        #expect(plan.changes.count == 1)
        guard case .keptBoth? = plan.changes.first?.action else {
            Issue.record("\(plan.changes)")
            return
        }
        let open = try copies.vault.unlock()
        let secrets = try open.entries.map { try Facts(open.open($0.id)) }
        #expect(secrets.contains { $0.secret == Facts(old).secret })
        #expect(secrets.contains { $0.secret == changed.secret })
    }

    @Test("a merge reports each kept key that will give different codes", arguments: [false, true])
    func otherCodes(isNewKey: Bool) throws {
        let copies = try Copies()
        let id = copies.ids[0]
        guard case .oneTimePassword(let old) = try copies.vault.unlock().open(id) else {
            Issue.record("no code")
            return
        }
        let step = try #require(TimeStep(period: 90, start: 0))
        let new = try Credential(
            issuer: old.issuer, account: old.account, key: isNewKey ? secret("new") : old.key,
            algorithm: old.algorithm, style: old.style, movingFactor: .time(step),
            otherParameters: old.otherParameters)
        try copies.there { try $0.replace(id, with: .oneTimePassword(new), now: 100) }
        let replacing = try copies.plan().2.changes
        #expect(replacing.map(\.action) == [.replaced([.secret])])
        #expect(replacing.map(\.changesCodesOfKey) == [!isNewKey])
        // After an edit on both sides, both keys are kept.
        try copies.here {
            try $0.setDetails(of: id, to: EntryDetails(tags: ["later"]), now: 5000)
        }
        #expect(try copies.plan().2.changes.map(\.changesCodesOfKey) == [!isNewKey])
    }

    @Test("a wipe without the key is merged only if the owner accepts it")
    func wiped() throws {
        let copies = try Copies()
        let id = copies.ids[0]
        try forge(id, in: "copy", of: copies.vault, reason: .accountClosed)
        try copies.here(rename(id, "renamed", 100))
        let bytes = try copies.vault.bytes()
        let declined = try copies.merge()
        #expect(declined.isMerged && declined.declinedWipes == [id])
        #expect(try copies.vault.bytes() == bytes)
        #expect(try copies.vault.files().contains(TestVault.own("previous")))
        let plan = try copies.merge(accepting: [id])
        #expect(plan.isIncluded && plan.changes.map(\.action) == [.wiped])
        let entry = try #require(try copies.vault.unlock().entries.first)
        // The time and the reason in the forged tombstone are not adopted.
        #expect(entry.tombstone == Tombstone(time: Self.now, reason: .failures))
        #expect(entry.issuer == "renamed")
        // The previous generation contained the secret.
        #expect(try !copies.vault.files().contains(TestVault.own("previous")))
    }

    @Test("accepting a wipe of a per-use entry requires its check, as does removing the entry")
    func wipedPerUse() throws {
        let copies = try Copies()
        let id = copies.ids[0]
        try copies.here { changes throws(VaultError) in
            try changes.setAccessControl(
                of: id, to: AccessControl(presence: .perUse(.pam), onFailure: .lockOut))
        }
        try copies.vault.put(copies.vault.bytes(), as: "copy")
        try forge(id, in: "copy", of: copies.vault)
        let bytes = try copies.vault.bytes()
        #expect(throws: VaultError.presenceNeeded) { try copies.merge(accepting: [id]) }
        #expect(try copies.vault.bytes() == bytes)
        let plan = try copies.merge(confirmed: [id], accepting: [id])
        #expect(plan.changes.map(\.requiresCheck) == [true])
        #expect(try copies.vault.unlock().entries[0].tombstone != nil)
    }

    /// Replaces the secret of an entry in a file with a tombstone, without the key.
    private func forge(
        _ id: RecordID, in name: String, of vault: TestVault,
        reason: Tombstone.Reason = .failures
    ) throws {
        let document = try VaultDocument(parsing: vault.folder.bytes(of: name))
        let tombstone = Tombstone(time: 50, reason: reason)
        try vault.put(#require(try document.wiping([id], leaving: tombstone)).bytes, as: name)
    }

    @Test("an entry that only the copy had and lost is reported, and merged from an honest copy")
    func onlyThere() throws {
        let copies = try Copies()
        let new = EntryContent.plainSecret(issuer: "new", account: "", value: secret("there"))
        try copies.there { try $0.add(new, now: 100) }
        // This edit is merged and saved, but that must not count as a merge of the whole copy.
        try copies.there(rename(copies.ids[1], "there", 100))
        try copies.here(rename(copies.ids[0], "here", 100))
        let honest = try copies.vault.folder.bytes(of: "copy")
        let id = try #require(try copies.unlockedCopy().entries.last?.id)
        try forge(id, in: "copy", of: copies.vault)
        let plan = try copies.merge()
        #expect(plan.unmerged.map(\.id) == [id] && plan.declinedWipes.isEmpty)
        #expect(!plan.isMerged && plan.changes.map(\.action) == [.replaced([.name])])
        try copies.vault.put(honest, as: "copy")
        #expect(try copies.merge().changes.map(\.action) == [.added])
        #expect(try copies.facts(id) == Facts(new))
        #expect(try copies.plan().2.isMerged)
    }

    /// Changes a key in the copy, and a different entry here.
    private func changeKey(of id: RecordID, in copies: Copies) throws -> EntryContent {
        let new = EntryContent.plainSecret(
            issuer: "Wi-Fi", account: "home", value: secret("there"))
        try copies.there { try $0.replace(id, with: new, now: 100) }
        try copies.here(rename(copies.ids[0], "here", 100))
        return new
    }

    @Test("a key that was changed in the copy and lost there is merged from an honest copy")
    func changedThere() throws {
        let copies = try Copies()
        let id = copies.ids[2]
        let new = try changeKey(of: id, in: copies)
        let honest = try copies.vault.folder.bytes(of: "copy")
        try forge(id, in: "copy", of: copies.vault)
        let plan = try copies.merge()
        #expect(plan.unmerged.map(\.id) == [id] && plan.declinedWipes == [id])
        try copies.vault.put(honest, as: "copy")
        #expect(try copies.merge().changes.map(\.action) == [.replaced([.secret])])
        #expect(try copies.facts(id) == Facts(new))
    }

    @Test("an entry that has vanished here takes the newer key of the copy")
    func vanishedHere() throws {
        let copies = try Copies()
        let id = copies.ids[2]
        let new = try changeKey(of: id, in: copies)
        try forge(id, in: "vault", of: copies.vault)
        let plan = try copies.merge()
        #expect(plan.unmerged.isEmpty && plan.changes.map(\.action) == [.restored])
        #expect(try copies.facts(id) == Facts(new))
        #expect(try copies.plan().2.isMerged)
    }

    @Test("a per-use entry that has vanished here takes a newer edit only after its check")
    func vanishedPerUse() throws {
        let copies = try Copies()
        let id = copies.ids[1]
        try copies.here { changes throws(VaultError) in
            try changes.setAccessControl(
                of: id, to: AccessControl(presence: .perUse(.any), onFailure: .lockOut))
        }
        try copies.vault.put(copies.vault.bytes(), as: "copy")
        try copies.there(rename(id, "there", 100))
        try copies.here { changes throws(VaultError) in _ = try changes.advanceCounter(of: id) }
        try forge(id, in: "vault", of: copies.vault)
        #expect(throws: VaultError.presenceNeeded) { try copies.merge() }
        let plan = try copies.merge(confirmed: [id])
        // Otherwise, the code that was issued here would be issued again.
        #expect(plan.changes.map(\.action) == [.restoredOlder(.counter)])
        #expect(try copies.vault.unlock().entries[1].issuer == "there")
    }

    @Test("a wipe does not cover a key that the wiping copy had not seen; the owner decides")
    func newerKey() throws {
        let copies = try Copies()
        let id = copies.ids[2]
        try copies.there { try $0.wipe(id, because: .failures, now: 50) }
        let new = EntryContent.plainSecret(
            issuer: "Wi-Fi", account: "home", value: secret("the new password"))
        try copies.here { try $0.replace(id, with: new, now: 100) }
        let (ours, wiped) = (try copies.vault.bytes(), try copies.vault.folder.bytes(of: "copy"))
        let plan = try copies.merge()
        #expect(plan.declinedWipes == [id] && plan.unmerged.map(\.id) == [id])
        #expect(plan.changes.isEmpty && !plan.isMerged)
        #expect(try copies.vault.bytes() == ours)
        // The device with the wipe does not adopt the key before the owner has removed the wiped
        // entry.
        try copies.vault.put(wiped)
        try copies.vault.put(ours, as: "copy")
        let other = try copies.merge()
        #expect(other.unmerged.map(\.id) == [id] && other.declinedWipes.isEmpty)
        #expect(try copies.vault.unlock().entries[2].tombstone != nil)
        try copies.here { try $0.remove(id, purge: false) }
        #expect(try copies.merge().changes.map(\.action) == [.added])
        #expect(try copies.facts(id) == Facts(new))
        // After that, both have the key.
        let merged = try copies.vault.bytes()
        try copies.vault.put(ours)
        try copies.vault.put(merged, as: "copy")
        let last = try copies.merge()
        #expect(last.declinedWipes.isEmpty && last.unmerged.isEmpty)
        #expect(try copies.facts(id) == Facts(new))
        // Alternatively, the owner may accept the wipe.
        try copies.vault.put(ours)
        try copies.vault.put(wiped, as: "copy")
        #expect(try copies.merge(accepting: [id]).changes.map(\.action) == [.wiped])
        #expect(try copies.vault.unlock().entries[2].tombstone?.time == 50)
    }

    @Test("a wipe covers the same key under another name, and later states of an enrolled secret")
    func sameKey() throws {
        let copies = try Copies()
        let (id, enrolled) = (copies.ids[2], copies.ids[3])
        try copies.there { changes throws(VaultError) in
            for id in [id, enrolled] { try changes.wipe(id, because: .failures, now: 50) }
        }
        try copies.here(rename(id, "renamed", 100))
        try copies.here { changes throws(VaultError) in
            try changes.setAccessControl(
                of: enrolled, to: AccessControl(presence: .perUse(.any), onFailure: .lockOut))
        }
        let plan = try copies.merge(confirmed: [enrolled])
        #expect(plan.changes.map(\.action) == [.wiped, .wiped] && plan.unmerged.isEmpty)
        #expect(try copies.vault.unlock().entries[2].issuer == "renamed")
    }

    @Test("a wipe covers a key that the wiping copy had seen and replaced")
    func replacedKey() throws {
        let copies = try Copies()
        let id = copies.ids[2]
        func replace(by text: String, _ time: Int64) -> Change {
            { changes throws(VaultError) in
                try changes.replace(
                    id,
                    with: .plainSecret(issuer: "Wi-Fi", account: "home", value: secret(text)),
                    now: time)
            }
        }
        try copies.here(replace(by: "here", 10))
        try copies.vault.put(copies.vault.bytes(), as: "copy")
        try copies.there(replace(by: "there", 20))
        try copies.there { try $0.wipe(id, because: .failures, now: 50) }
        let plan = try copies.merge()
        #expect(plan.changes.map(\.action) == [.wiped] && plan.unmerged.isEmpty)
    }

    @Test("an entry that has vanished here does not come back with an older counter")
    func olderCounter() throws {
        let copies = try Copies()
        let id = copies.ids[1]
        try copies.there(rename(copies.ids[0], "there", 100))
        try copies.here { changes throws(VaultError) in _ = try changes.advanceCounter(of: id) }
        try forge(id, in: "vault", of: copies.vault)
        let plan = try copies.merge()
        #expect(plan.unmerged.map(\.id) == [id])
        #expect(plan.changes.map(\.action) == [.replaced([.name])])
        #expect(try copies.vault.unlock().entries[1].tombstone != nil)
    }

    @Test("entries that an undone merge had removed survive a merge of a file with that merge")
    func undoneElsewhere() throws {
        let copies = try Copies()
        let ids = copies.ids
        try copies.here(rename(ids[2], "here", 10))
        try copies.there { changes throws(VaultError) in
            try changes.remove(ids[1], purge: false)
            try changes.rename(ids[0], issuer: "there", account: "", now: 20)
        }
        try copies.merge()
        let received = try copies.vault.bytes()
        let open = try copies.vault.unlock()
        try open.undo(open.planOfUndo(now: Self.now), confirmed: [], now: Self.now)
        let undone = try copies.vault.bytes()
        // The other device continues with the merged file.
        try copies.vault.put(received, as: "copy")
        try copies.there(rename(ids[3], "later", TestVault.now + 100))
        let other = try copies.vault.folder.bytes(of: "copy")
        let plan = try copies.merge()
        #expect(plan.changes.filter { $0.action == .removed }.isEmpty)
        #expect(try copies.vault.unlock().entries.map(\.id) == ids)
        #expect(try copies.vault.unlock().entries[3].issuer == "later")
        let merged = try copies.vault.bytes()
        // The other device restores the entry, whichever of the two files it merges.
        for file in [undone, merged] {
            try copies.vault.put(other)
            try copies.vault.put(file, as: "copy")
            let added = try copies.merge().changes.filter { $0.action == .added }
            #expect(added.map(\.id) == [ids[1]])
            let entries = try copies.vault.unlock().entries
            #expect(Set(entries.map(\.id)) == Set(ids))
            #expect(try copies.plan().2.isMerged)
        }
    }

    @Test("after both files have undone a merge, entries that one of them removes stay removed")
    func undoneInBoth() throws {
        let copies = try Copies()
        let ids = copies.ids
        try copies.there(rename(ids[0], "there", 20))
        try copies.merge()
        let open = try copies.vault.unlock()
        try open.undo(open.planOfUndo(now: Self.now), confirmed: [], now: Self.now)
        try copies.vault.put(copies.vault.bytes(), as: "copy")
        try copies.here { try $0.remove(ids[3], purge: false) }
        try copies.there(rename(ids[2], "later", 200))
        #expect(try copies.merge().changes.map(\.action) == [.replaced([.name])])
        #expect(try copies.vault.unlock().entries.map(\.id) == Array(ids.prefix(3)))
    }

    @Test("a copy can be opened without saving it, even if entries were wiped without the key")
    func unchangedCopy() throws {
        let copies = try Copies()
        try forge(copies.ids[0], in: "copy", of: copies.vault)
        let wiped = try copies.vault.folder.bytes(of: "copy")
        _ = try Vault.unlock(
            at: copies.path, with: .passphrase(TestVault.passphrase), mode: .leavingWipes)
        #expect(try copies.vault.folder.bytes(of: "copy") == wiped)
        _ = try copies.unlockedCopy()
        // The wipe is not proved.
        #expect(try copies.vault.folder.bytes(of: "copy") == wiped)
    }
}
