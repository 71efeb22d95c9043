import TestSupport
import Testing

@testable import SecretVault

/// Merging copies whose edits are older than the saves that the vault records.
struct OldEditTests {
    /// A vault that has removed one entry and replaced another, and was saved so often since that
    /// its history does not reach back to the copy.
    private struct OldCopy {
        let copies: MergeTests.Copies

        init() throws {
            copies = try MergeTests.Copies()
            let (vault, ids) = (copies.vault, copies.ids)
            try copies.here { try $0.remove(ids[0], purge: true) }
            try copies.here { changes throws(VaultError) in
                try changes.replace(
                    ids[2],
                    with: .plainSecret(issuer: "Wi-Fi", account: "home", value: secret("new")),
                    now: 100)
            }
            try OldCopy.saveOften(vault.path, vault)
        }

        /// Replaces the vault with the result of this number of saves.
        static func saveOften(
            _ path: String, _ vault: TestVault, as name: String = "vault", count: Int = 512
        ) throws {
            let open = try Vault.unlock(at: path, with: .passphrase(TestVault.passphrase))
            var state = open.state
            for _ in 0..<count { state = try state.next(after: nil) }
            try vault.put(state.written(with: open.key), as: name)
        }

        func plan(takingOldEdits takesOld: Bool) throws -> (UnlockedVault, VaultCopy, MergePlan) {
            let open = try copies.vault.unlock()
            let copy = try #require(try open.copy(at: copies.path))
            let plan = try open.planOfMerge(
                with: copy, takingOldEdits: takesOld, comparing: MergeTests.order,
                now: MergeTests.now)
            return (open, copy, plan)
        }

        func merge(takingOldEdits takesOld: Bool) throws -> MergePlan {
            let (open, _, plan) = try plan(takingOldEdits: takesOld)
            try open.merge(
                plan, confirmed: [], comparing: MergeTests.order, now: MergeTests.now)
            return plan
        }
    }

    @Test("differences in a possible ancestor are reported, and not merged without consent")
    func kept() throws {
        let old = try OldCopy()
        let ids = old.copies.ids
        let plan = try old.merge(takingOldEdits: false)
        #expect(plan.oldEdits.map(\.id) == [ids[0], ids[2]])
        #expect(plan.declinedOldEdits.map(\.id) == [ids[0], ids[2]])
        #expect(plan.changes.isEmpty && !plan.isMerged)
        let entries = try old.copies.vault.unlock().entries
        #expect(entries.map(\.id) == [ids[1], ids[2], ids[3]])
        #expect(try old.copies.facts(ids[2]).secret == Array("new".utf8))
    }

    @Test("with consent, differences in a possible ancestor are merged like other edits")
    func taken() throws {
        let old = try OldCopy()
        let ids = old.copies.ids
        let plan = try old.merge(takingOldEdits: true)
        let names = EntryNames(issuer: "Wi-Fi", account: "home (conflict)")
        #expect(plan.changes.map(\.action) == [.keptBoth(copy: names), .added])
        #expect(try old.copies.vault.unlock().entries.map(\.id).contains(ids[0]))
    }

    @Test("greater counters of a possible ancestor are kept, as always")
    func counters() throws {
        let copies = try MergeTests.Copies()
        let id = copies.ids[1]
        try copies.here(MergeTests().rename(id, "here", 100))
        try OldCopy.saveOften(copies.vault.path, copies.vault)
        try copies.there { changes throws(VaultError) in
            for _ in 0..<3 { _ = try changes.advanceCounter(of: id) }
        }
        let plan = try copies.merge()
        #expect(plan.oldEdits.map(\.id) == [id] && plan.changes.map(\.action) == [.advanced])
        #expect(try copies.vault.unlock().counter(of: id) == 44)
        #expect(try copies.vault.unlock().entries[1].issuer == "here")
    }

    @Test("an old edit of the copy is merged as usual if it follows the vault's own edit")
    func following() throws {
        let copies = try MergeTests.Copies()
        try copies.there(MergeTests().rename(copies.ids[0], "there", 100))
        try OldCopy.saveOften(copies.vault.path, copies.vault)
        let plan = try copies.merge()
        #expect(plan.oldEdits.isEmpty && plan.changes.map(\.action) == [.replaced([.name])])
    }

    @Test("an edit that is newer than the oldest save that the vault records is merged as usual")
    func newer() throws {
        let copies = try MergeTests.Copies()
        try OldCopy.saveOften(copies.vault.path, copies.vault)
        try OldCopy.saveOften(copies.path, copies.vault, as: "copy", count: 20)
        try copies.there(MergeTests().rename(copies.ids[0], "there", 100))
        let plan = try copies.merge()
        #expect(plan.oldEdits.isEmpty && plan.changes.map(\.action) == [.replaced([.name])])
    }
}
