import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

/// Merging files of one vault that were edited independently.
struct MergeTests {
    static let now: Int64 = 1_795_100_000
    typealias Change = (inout VaultChanges) throws -> Void

    /// A vault and, in the same folder, a copy of it.
    struct Copies {
        let vault: TestVault
        let ids: [RecordID]
        let path: String

        init() throws {
            vault = try TestVault()
            ids = try vault.fill()
            path = vault.folder.file("copy")
            try vault.put(vault.bytes(), as: "copy")
        }

        func here(_ change: Change) throws { try vault.unlock().change(change) }

        func there(_ change: Change) throws { try unlockedCopy().change(change) }

        func unlockedCopy() throws -> UnlockedVault {
            try Vault.unlock(at: path, with: .passphrase(TestVault.passphrase))
        }

        func plan(
            accepting accepted: Set<RecordID> = []
        ) throws -> (UnlockedVault, VaultCopy, MergePlan) {
            let open = try vault.unlock()
            let copy = try open.copy(at: path) ?? unlockedCopy().asCopy
            let plan = try open.planOfMerge(
                with: copy, accepting: accepted, comparing: MergeTests.order,
                now: MergeTests.now)
            return (open, copy, plan)
        }

        @discardableResult func merge(
            confirmed: Set<RecordID> = [], accepting accepted: Set<RecordID> = []
        ) throws -> MergePlan {
            let (open, _, plan) = try plan(accepting: accepted)
            try open.merge(
                plan, confirmed: confirmed, comparing: MergeTests.order,
                now: MergeTests.now)
            return plan
        }

        func facts(_ id: RecordID) throws -> Facts { try Facts(vault.unlock().open(id)) }
    }

    static func order(_ first: SecretBytes, _ second: SecretBytes) -> EnrolledOrder {
        if first == second { return .same }
        return first.count == second.count ? .forked : first.count < second.count ? .second : .first
    }

    func rename(_ id: RecordID, _ name: String, _ time: Int64) -> Change {
        { try $0.rename(id, issuer: name, account: "", now: time) }
    }

    private func replace(_ id: RecordID, _ value: String, _ time: Int64) -> Change {
        {
            try $0.replace(
                id, with: .plainSecret(issuer: "Wi-Fi", account: "home", value: secret(value)),
                now: time)
        }
    }

    @Test("if it is not clear which edit is newer, both are kept, and the second entry is marked")
    func bothKept() throws {
        let copies = try Copies()
        let id = copies.ids[2]
        try copies.here(replace(id, "here", 100))
        try copies.there(replace(id, "there", 101))
        let plan = try copies.merge()
        let names = EntryNames(issuer: "Wi-Fi", account: "home (conflict)")
        #expect(plan.changes.map(\.action) == [.keptBoth(copy: names)])
        #expect(try copies.facts(id).secret == Array("there".utf8))
        let entries = try copies.vault.unlock().entries
        #expect(entries.count == 5 && entries[3].account == "home (conflict)")
        #expect(try copies.facts(entries[3].id).secret == Array("here".utf8))
        #expect(try copies.plan().2.isMerged)
    }

    @Test("the newer of two edits wins, and the other one is reported as dropped")
    func newer() throws {
        let copies = try Copies()
        try copies.here(rename(copies.ids[0], "here", 200))
        try copies.there(rename(copies.ids[0], "there", 100))
        try copies.here(rename(copies.ids[2], "here", 100))
        try copies.there(rename(copies.ids[2], "there", 200))
        let plan = try copies.merge()
        #expect(plan.changes.map(\.action) == [.kept, .replaced([.name])])
        let names = try copies.vault.unlock().entries.map(\.issuer)
        #expect(names == ["here", "Bänk", "there", "shop"])
    }

    @Test("a merge takes the greater counter and the newest enrolled secret, even without an edit")
    func advanced() throws {
        let copies = try Copies()
        let (counter, enrolled) = (copies.ids[1], copies.ids[3])
        try copies.here { changes throws(VaultError) in
            _ = try changes.advanceCounter(of: counter)
        }
        let next = EntryContent.enrolledSecret(
            issuer: "shop", account: "alice", value: secret("wws_what it says next"))
        try copies.there { changes throws(VaultError) in
            for _ in 0..<3 { _ = try changes.advanceCounter(of: counter) }
            try changes.advance(enrolled, to: next)
        }
        let plan = try copies.merge()
        #expect(plan.changes.map(\.action) == [.advanced, .advanced])
        #expect(try copies.vault.unlock().counter(of: counter) == 44)
        #expect(try copies.facts(enrolled) == Facts(next))
    }

    @Test("an enrolled secret that both copies have used is reported, and is not changed")
    func forked() throws {
        let copies = try Copies()
        for (value, change) in [("wws_1", copies.here), ("wws_2", copies.there)] {
            try change { changes throws(VaultError) in
                try changes.advance(
                    copies.ids[3],
                    to: .enrolledSecret(issuer: "shop", account: "alice", value: secret(value)))
            }
        }
        #expect(try copies.merge().changes.map(\.action) == [.forked])
        #expect(try copies.facts(copies.ids[3]).secret == Array("wws_1".utf8))
    }

    @Test("a per-use entry is replaced only after a check; an unchecked merge changes nothing")
    func checks() throws {
        let copies = try Copies()
        let id = copies.ids[2]
        let strict = AccessControl(presence: .perUse(.passphrase), onFailure: .lockOut)
        try copies.here { try $0.setAccessControl(of: id, to: strict, now: 10) }
        try copies.vault.put(copies.vault.bytes(), as: "copy")
        try copies.there(replace(id, "there", 100))
        let bytes = try copies.vault.bytes()
        #expect(try copies.plan().2.changes.map(\.requiresCheck) == [true])
        #expect(throws: VaultError.presenceNeeded) { try copies.merge() }
        #expect(try copies.vault.bytes() == bytes)
        try copies.merge(confirmed: [id])
        #expect(try copies.facts(id).secret == Array("there".utf8))
        #expect(try copies.vault.unlock().entries[2].accessControl == strict)
    }

    @Test("a merge removes or renames a per-use entry only after a check; details need none")
    func checksOfOtherChanges() throws {
        let copies = try Copies()
        let ids = copies.ids
        let strict = AccessControl(presence: .perUse(.passphrase), onFailure: .lockOut)
        try copies.here { changes throws(VaultError) in
            for id in ids { try changes.setAccessControl(of: id, to: strict, now: 10) }
        }
        try copies.vault.put(copies.vault.bytes(), as: "copy")
        try copies.there { changes throws(VaultError) in
            try changes.remove(ids[0], purge: false)
            try changes.rename(ids[1], issuer: "renamed", account: "", now: 100)
            try changes.setDetails(of: ids[2], to: EntryDetails(note: "n"), now: 100)
        }
        let asking = try copies.plan().2.changes.filter(\.requiresCheck).map(\.id)
        #expect(asking == [ids[0], ids[1]])
    }

    @Test("if both copies changed the access control, the stricter one is kept")
    func stricter() throws {
        let copies = try Copies()
        let id = copies.ids[2]
        let wiping = try #require(FailureCount(3))
        try copies.here { changes throws(VaultError) in
            try changes.setAccessControl(
                of: id, to: .init(presence: .perUse(.any), onFailure: .lockOut), now: 100)
        }
        try copies.there { changes throws(VaultError) in
            try changes.setAccessControl(
                of: id, to: .init(presence: .perUnlock, onFailure: .wipe(after: wiping)), now: 200)
        }
        let plan = try copies.merge(confirmed: [id])
        #expect(plan.changes.map(\.action) == [.replaced([.accessControl])])
        #expect(
            try copies.vault.unlock().entries[2].accessControl
                == AccessControl(presence: .perUse(.any), onFailure: .wipe(after: wiping)))
    }

    @Test("of two access control settings, the stricter one applies, whichever edit is newer")
    func strictness() throws {
        let (three, five) = (try #require(FailureCount(3)), try #require(FailureCount(5)))
        let looser: [(AccessControl, than: AccessControl)] = [
            (access(.perUnlock, .lockOut), access(.perUse(.any), .lockOut)),
            (access(.perUse(.any), .lockOut), access(.perUse(.pam), .lockOut)),
            (access(.perUse(.any), .lockOut, reuse: 60), access(.perUse(.any), .lockOut)),
            (
                access(.perUse(.any), .lockOut, reuse: 60),
                access(.perUse(.pam), .lockOut, reuse: 59)
            ),
            (access(.perUnlock, .lockOut), access(.perUse(.any), .lockOut, reuse: 60)),
            (access(.perUnlock, .lockOut), access(.perUnlock, .wipe(after: five))),
            (access(.perUnlock, .wipe(after: five)), access(.perUnlock, .wipe(after: three))),
        ]
        for (loose, strict) in looser {
            #expect(loose.stricter(than: strict) == strict)
            #expect(strict.stricter(than: loose) == strict)
        }
        // Neither of two different kinds of check is stricter.
        let (pam, passphrase) = (
            access(.perUse(.pam), .lockOut), access(.perUse(.passphrase), .lockOut)
        )
        #expect(pam.stricter(than: passphrase) == pam)
        #expect(passphrase.stricter(than: pam) == passphrase)
    }

    private func access(
        _ presence: AccessControl.Presence, _ onFailure: AccessControl.OnFailure, reuse: Int = 0
    ) -> AccessControl {
        AccessControl(
            presence: presence, onFailure: onFailure, reuse: ReuseTime(reuse) ?? .none)
    }

    @Test("a different vault is not merged")
    func otherVault() throws {
        let (vault, other) = (try TestVault().unlock(), try TestVault().unlock())
        #expect(throws: VaultError.otherVault) {
            try vault.planOfMerge(with: other.asCopy, comparing: Self.order, now: Self.now)
        }
    }

    @Test("a copy with a different key opens with its own passphrase; its slots are only reported")
    func otherKey() throws {
        let copies = try Copies()
        try copies.there { changes throws(VaultError) in
            try changes.add(
                .plainSecret(issuer: "new", account: "", value: secret("new")), now: 100)
            try changes.addPassphrase(secret("second"), cost: .standard, now: 100)
        }
        try copies.here { try $0.rekey() }
        #expect(try copies.vault.unlock().copy(at: copies.path) == nil)
        let plan = try copies.merge()
        #expect(plan.changes.map(\.action) == [.added] && plan.keys == .older)
        #expect(plan.foreignSlots.map(\.number) == [2])
        let open = try copies.vault.unlock()
        #expect(open.slots.count == 1 && open.entries.last?.issuer == "new")
        #expect(try open.open(copies.ids[0]).issuer == "GitHub")
        let other = try TestVault()
        #expect(throws: VaultError.otherVault) { try open.copy(at: other.path) }
    }

    @Test("the merged file is newer than both, includes both, and can be undone")
    func history() throws {
        let copies = try Copies()
        for time in 1...4 as ClosedRange<Int64> {
            try copies.there(rename(copies.ids[0], "there \(time)", time))
        }
        try copies.here(rename(copies.ids[2], "here", 10))
        let before = try copies.vault.unlock().entries.map(\.issuer)
        let (here, there) = (
            try copies.vault.unlock().state.history, try copies.unlockedCopy().state.history
        )
        try copies.merge()
        let merged = try copies.vault.unlock()
        #expect(merged.generation == 10)
        #expect(merged.state.history.includes(here) && merged.state.history.includes(there))
        #expect(merged.entries.map(\.issuer) == ["there 4", "Bänk", "here", "shop"])
        let plan = try merged.planOfUndo(now: Self.now)
        try merged.undo(plan, confirmed: [], now: Self.now)
        #expect(try copies.vault.unlock().entries.map(\.issuer) == before)
    }

    @Test("a merge that was undone can be made again, with the same result")
    func again() throws {
        let copies = try Copies()
        try copies.here(rename(copies.ids[2], "here", 10))
        try copies.there { changes throws(VaultError) in
            try changes.rename(copies.ids[0], issuer: "there", account: "", now: 20)
            try changes.remove(copies.ids[1], purge: false)
            try changes.add(
                .plainSecret(issuer: "new", account: "", value: secret("new")), now: 20)
        }
        let (before, first) = (try copies.vault.unlock().entries, try copies.merge())
        let open = try copies.vault.unlock()
        let (bytes, merged) = (try copies.vault.bytes(), open.state)
        try open.undo(open.planOfUndo(now: Self.now), confirmed: [], now: Self.now)
        let undone = try copies.vault.unlock()
        #expect(undone.entries.map(\.issuer) == before.map(\.issuer))
        // The undone file is newer than the merged one, but does not include the other one.
        #expect(undone.state.history.includes(merged.history))
        #expect(try !undone.state.history.includes(copies.unlockedCopy().state.history))
        #expect(try copies.plan().2.changes == first.changes)
        try copies.merge()
        let again = try copies.vault.unlock()
        #expect(again.entries.map(\.issuer) == merged.records.map(\.summary.issuer))
        #expect(try copies.plan().2.isMerged)
        // A device with the merged file adopts the changes of the second merge.
        try copies.vault.put(bytes, as: "copy")
        #expect(try copies.plan().2.isMerged)
    }

    @Test("undoing a merge, and then undoing the undo, restores the merge")
    func undoneTwice() throws {
        let copies = try Copies()
        try copies.there(rename(copies.ids[0], "there", 20))
        try copies.merge()
        for name in ["GitHub", "there"] {
            let open = try copies.vault.unlock()
            try open.undo(open.planOfUndo(now: Self.now), confirmed: [], now: Self.now)
            #expect(try copies.vault.unlock().entries[0].issuer == name)
        }
        #expect(try copies.plan().2.isMerged)
    }

    @Test("undoing a merge that kept both copies loses neither, even if it is merged later")
    func undoneConflict() throws {
        let copies = try Copies()
        let id = copies.ids[2]
        try copies.here(replace(id, "here", 101))
        try copies.there(replace(id, "there", 102))
        let other = try copies.vault.folder.bytes(of: "copy")
        try copies.merge()
        let bytes = try copies.vault.bytes()
        let open = try copies.vault.unlock()
        try open.undo(open.planOfUndo(now: Self.now), confirmed: [], now: Self.now)
        let undone = try copies.vault.bytes()
        for file in [other, bytes] {
            try copies.vault.put(undone)
            try copies.vault.put(file, as: "copy")
            // The file with the merge has a separate edit.
            if file == bytes { try copies.there(rename(copies.ids[0], "later", 103)) }
            try copies.merge()
            let kept = try copies.vault.unlock().entries.filter { $0.kind == .secret }
            let values = try kept.map { try copies.facts($0.id).secret }
            #expect(Set(values) == [Array("here".utf8), Array("there".utf8)])
        }
    }

    @Test("a damaged entry of the copy is reported as damage of the copy")
    func damagedCopy() throws {
        let copies = try Copies()
        let id = copies.ids[2]
        try copies.there { changes throws(VaultError) in
            let edit = changes.edit(at: 100)
            try changes.state.change(id) { properties in
                properties.traits = .hotp(.sha1, .steam)
                properties.edited = edit
            }
            changes.isChanged = true
        }
        #expect(throws: VaultError.copyDamaged(.content(id))) { try copies.merge() }
        try copies.vault.put(copies.vault.folder.bytes(of: "copy"))
        #expect(throws: VaultError.damaged(.content(id))) {
            try copies.vault.unlock().open(id)
        }
    }

    @Test("a plan changes nothing if another process has changed the vault since")
    func overtaken() throws {
        let copies = try Copies()
        try copies.there(rename(copies.ids[0], "there", 100))
        let (open, _, plan) = try copies.plan()
        try copies.here(rename(copies.ids[0], "here", 200))
        let bytes = try copies.vault.bytes()
        #expect(throws: VaultError.busy) {
            try open.merge(
                plan, confirmed: [], comparing: Self.order, now: Self.now)
        }
        #expect(try copies.vault.bytes() == bytes)
    }
}
