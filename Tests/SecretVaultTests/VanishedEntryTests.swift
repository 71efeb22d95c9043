import Devices
import OneTimePassword
import TestSupport
import Testing
import WatchwordSystem

@testable import SecretVault

/// Tombstones that were written without the vault's key.
struct VanishedEntryTests {
    private static let now: Int64 = 1_795_000_300

    /// A vault and its entries, all of which are wiped after three failures.
    private func made() throws -> (TestVault, [RecordID]) {
        let vault = try TestVault()
        let access = AccessControl(presence: .perUnlock, onFailure: .wipe(after: .three))
        for content in try TestVault.contents() {
            try vault.unlock().update { changes throws(VaultError) in
                try changes.add(content, accessControl: access, now: TestVault.now)
            }
        }
        // A change after which the previous generation contains all entries.
        let ids = try vault.unlock().entries.map(\.id)
        try vault.unlock().change { try $0.rename(ids[0], issuer: "renamed", account: "") }
        return (vault, ids)
    }

    private func forge(
        _ ids: Set<RecordID>, in vault: TestVault, reason: Tombstone.Reason = .failures
    ) throws {
        let document = try VaultDocument(parsing: vault.bytes())
        let tombstone = Tombstone(time: TestVault.now, reason: reason)
        try vault.put(try #require(try document.wiping(ids, leaving: tombstone)).bytes)
    }

    @discardableResult private func undo(
        _ vault: TestVault, confirmed: Set<RecordID> = []
    ) throws -> [UndoneChange] {
        let open = try vault.unlock()
        let plan = try open.planOfUndo(now: Self.now)
        try open.undo(plan, confirmed: confirmed, now: Self.now)
        return plan
    }

    @Test(
        "a forged tombstone purges nothing, and undo restores the entries",
        arguments: Tombstone.Reason.allCases)
    func forged(reason: Tombstone.Reason) throws {
        let (vault, ids) = try made()
        let contents = try ids.map { try Facts(vault.unlock().open($0)) }
        try forge(Set(ids), in: vault, reason: reason)
        let bytes = try vault.bytes()
        let previous = try vault.folder.bytes(of: TestVault.own("previous"))
        let open = try vault.unlock()
        #expect(open.reports == ids.map { .vanished($0) })
        #expect(try vault.bytes() == bytes)
        #expect(try vault.folder.bytes(of: TestVault.own("previous")) == previous)
        let undone = try undo(vault)
        #expect(undone.map(\.id) == ids && undone.allSatisfy { $0.action == .restored })
        let restored = try vault.unlock()
        #expect(restored.reports.isEmpty && restored.entries[0].issuer == "renamed")
        #expect(try ids.map { try Facts(restored.open($0)) } == contents)
    }

    @Test("other changes keep the data that undo needs, and a purge of these data is refused")
    func otherChanges() throws {
        let (vault, ids) = try made()
        let content = try Facts(vault.unlock().open(ids[1]))
        try forge([ids[1]], in: vault)
        for name in ["a", "b"] {
            try vault.unlock().change { try $0.rename(ids[0], issuer: name, account: "") }
            #expect(try vault.unlock().reports == [.vanished(ids[1])])
        }
        let bytes = try vault.bytes()
        #expect(throws: VaultError.vanishedEntries) {
            try vault.unlock().change { try $0.rekey() }
        }
        #expect(throws: VaultError.vanishedEntries) {
            try vault.unlock().change { try $0.remove(ids[0], purge: true) }
        }
        #expect(try vault.bytes() == bytes)
        // A secret that must be wiped is still wiped, and no other.
        let box = try vault.box(of: ids[2])
        try vault.unlock().change { try $0.wipe(ids[2], because: .revoked, now: Self.now) }
        #expect(try vault.holders(of: box) == [])
        #expect(try undo(vault).map(\.id) == [ids[1]])
        let open = try vault.unlock()
        #expect(try Facts(open.open(ids[1])) == content)
        #expect(open.entries[0].issuer == "b" && open.entries[2].tombstone != nil)
    }

    @Test(
        "a second forgery after the entry was restored loses nothing",
        arguments: [false, true])
    func again(byMerging: Bool) throws {
        let (vault, ids) = try made()
        try vault.put(vault.bytes(), as: "copy")
        let content = try Facts(vault.unlock().open(ids[1]))
        let previous = try vault.folder.bytes(of: TestVault.own("previous"))
        try forge([ids[1]], in: vault)
        if byMerging {
            let open = try vault.unlock()
            let copy = try #require(try open.copy(at: vault.folder.file("copy")))
            let plan = try open.planOfMerge(
                with: copy, comparing: { _, _ in .same }, now: Self.now)
            try open.merge(
                plan, confirmed: [], comparing: { _, _ in .same }, now: Self.now)
        } else {
            try undo(vault)
        }
        // The forged file must not have replaced the previous generation.
        #expect(try vault.folder.bytes(of: TestVault.own("previous")) == previous)
        try forge([ids[1]], in: vault)
        #expect(try undo(vault).map(\.id) == [ids[1]])
        #expect(try Facts(vault.unlock().open(ids[1])) == content)
    }

    @Test("entries removed while another entry has vanished stay in the previous generation")
    func removedMeanwhile() throws {
        let (vault, ids) = try made()
        let box = try vault.box(of: ids[1])
        try forge([ids[0]], in: vault)
        try vault.unlock().change { try $0.remove(ids[1], purge: false) }
        #expect(try undo(vault).map(\.id) == [ids[0]])
        #expect(try vault.holders(of: box) == [TestVault.own("previous")])
    }

    @Test("a genuine wipe beside a forged wipe is completed, and erases no copy of the other entry")
    func beside() throws {
        let (vault, ids) = try made()
        let (box, kept) = (try vault.box(of: ids[0]), try vault.box(of: ids[1]))
        try vault.countFailures(of: [ids[0]])
        try forge([ids[1]], in: vault)
        let open = try vault.unlock()
        #expect(
            open.reports.map(\.entry) == [ids[0], ids[1]]
                && open.reports.contains(.vanished(ids[1])))
        #expect(try vault.holders(of: box) == [])
        #expect(try vault.holders(of: kept) == [TestVault.own("previous")])
        #expect(try VaultDocument(parsing: vault.bytes()).changes == 1)
        #expect(try undo(vault).map(\.id) == [ids[1]])
        #expect(
            try vault.unlock().entries.map { $0.tombstone != nil } == [true, false, false, false])
    }

    private struct Passing: PresenceCheck {
        typealias Grade = Cryptographic

        mutating func isPresent(for purpose: String) -> Bool { true }
    }

    @Test("a forged tombstone does not remove the check of an entry, which can still be made")
    func checks() throws {
        let (vault, ids) = try made()
        let access = AccessControl(presence: .perUse(.any), onFailure: .wipe(after: .three))
        try vault.unlock().update { changes throws(VaultError) in
            for id in ids.prefix(2) { try changes.setAccessControl(of: id, to: access) }
        }
        try forge([ids[0]], in: vault)
        let open = try vault.unlock()
        #expect(open.entries.prefix(2).map(\.requiresCheckPerUse) == [true, true])
        #expect(open.entries.map(\.hasVanished) == [true, false, false, false])
        var check = Passing()
        let proof = try open.proof(&check, for: ids[0])
        // The check succeeded; only the secret is missing.
        do throws(VaultError) {
            _ = try open.open(ids[0], proof: proof)
            Issue.record("opened")
        } catch {
            #expect(error == .vanished)
        }
        // After a wipe that the counted failures prove, the entry has no check.
        try vault.countFailures(of: [ids[0]])
        #expect(throws: NoProof<Never>.vault(.wiped)) {
            _ = try open.proof(&check, for: ids[0])
        }
        let wiped = try vault.unlock().entries[0]
        #expect(wiped.tombstone != nil && !wiped.hasVanished && !wiped.requiresCheckPerUse)
    }

    @Test("only an older secret requires the check; it is reported, and weakens no other setting")
    func older() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let strict = AccessControl(presence: .perUse(.pam), onFailure: .wipe(after: .three))
        try vault.unlock().update { changes throws(VaultError) in
            try changes.setAccessControl(of: ids[0], to: strict)
            try changes.rename(ids[0], issuer: "renamed", account: "")
            _ = try changes.advanceCounter(of: ids[1])
            try changes.replace(
                ids[2],
                with: .plainSecret(issuer: "Wi-Fi", account: "home", value: secret("changed")))
            try changes.setDetails(of: ids[2], to: EntryDetails(note: "new"))
        }
        try forge(Set(ids), in: vault)
        let bytes = try vault.bytes()
        #expect(throws: VaultError.presenceNeeded) { try undo(vault) }
        #expect(try vault.bytes() == bytes)
        let undone = try undo(vault, confirmed: [ids[0]])
        #expect(undone.map(\.requiresCheck) == [true, false, false, false])
        // A counter that goes back repeats codes; a different key has none of the former codes.
        #expect(undone.map(\.changesCodesOfKey) == [false, true, false, false])
        #expect(
            undone.map(\.action) == [
                .restored, .restoredOlder(.counter), .restoredOlder(.secret), .restored,
            ])
        let open = try vault.unlock()
        #expect(open.entries[0].accessControl == strict && open.entries[0].issuer == "renamed")
        #expect(try open.counter(of: ids[1]) == 41)
        #expect(open.entries[2].details.note == "new")
        #expect(try Facts(open.open(ids[2])).secret == Array("a plain password".utf8))
        #expect(open.reports.isEmpty)
    }

    @Test("an older secret of another kind opens, even if the key is the same")
    func otherKind() throws {
        let vault = try TestVault()
        let id = try vault.fill()[1]
        let former = try vault.unlock().open(id)
        guard case .oneTimePassword(let old) = former, case .counter = old.movingFactor else {
            Issue.record("not counter-based")
            return
        }
        let step = try #require(TimeStep(period: 30, start: 0))
        let new = try Credential(
            issuer: old.issuer, account: old.account, key: old.key, algorithm: old.algorithm,
            style: old.style, movingFactor: .time(step), otherParameters: old.otherParameters)
        try vault.unlock().update { changes throws(VaultError) in
            try changes.replace(id, with: .oneTimePassword(new))
        }
        try forge([id], in: vault)
        let undone = try undo(vault)
        #expect(undone.map(\.action) == [.restoredOlder(.secret)])
        #expect(undone.map(\.changesCodesOfKey) == [true])
        #expect(try Facts(vault.unlock().open(id)) == Facts(former))
    }

    @Test("an older secret returns with the older access control if that was stricter")
    func olderAccess() throws {
        let (vault, ids) = try made()
        let strict = AccessControl(presence: .perUse(.pam), onFailure: .lockOut)
        try vault.unlock().change { try $0.setAccessControl(of: ids[0], to: strict) }
        let loose = AccessControl(presence: .perUnlock, onFailure: .lockOut)
        try vault.unlock().change { try $0.setAccessControl(of: ids[0], to: loose) }
        try forge([ids[0]], in: vault)
        #expect(try undo(vault).map(\.requiresCheck) == [false])
        #expect(try vault.unlock().entries[0].accessControl == strict)
    }

    @Test("an entry whose secret is lost can be removed, or restored from a copy")
    func onlyCopy() throws {
        let (vault, ids) = try made()
        try vault.put(vault.bytes(), as: "copy")
        #expect(Folder.removeFile(at: vault.folder.file(TestVault.own("previous"))))
        try forge([ids[0], ids[1]], in: vault)
        #expect(throws: VaultError.nothingToUndo(.noPrevious)) { try undo(vault) }
        try vault.unlock().change { try $0.remove(ids[1], purge: false) }
        let open = try vault.unlock()
        let copy = try #require(try open.copy(at: vault.folder.file("copy")))
        let plan = try open.planOfMerge(with: copy, comparing: { _, _ in .same }, now: Self.now)
        #expect(plan.changes.map(\.action) == [.restored] && plan.declinedWipes.isEmpty)
        try open.merge(plan, confirmed: [], comparing: { _, _ in .same }, now: Self.now)
        let merged = try vault.unlock()
        // An earlier state of the vault does not restore entries removed since.
        #expect(merged.entries.map(\.id) == [ids[0], ids[2], ids[3]])
        #expect(merged.reports.isEmpty)
        _ = try merged.open(ids[0])
    }
}
