import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

/// Other changes of a vault, on the device to which its entries are bound and elsewhere.
struct BoundUndoTests {
    typealias Place = BoundCopies.Place

    enum Change: CaseIterable {
        case undo, rekey, passphrase, purge, wipe, check
    }

    @Test(
        "each change works on the bound device and elsewhere",
        arguments: Change.allCases, Place.allCases)
    func change(change: Change, place: Place) throws {
        let copies = try BoundCopies()
        switch change {
        case .undo: try undo(copies, place)
        case .rekey: try rekey(copies, place) { try $0.rekey() }
        case .passphrase:
            try rekey(copies, place) { changes throws(VaultError) in
                try changes.changePassphrase(
                    of: changes.slots[0], to: TestVault.passphrase, cost: .lowest, now: 100)
            }
        case .purge: try purge(copies, place)
        case .wipe: try wipe(copies, place)
        case .check: try check(copies, place)
        }
    }

    private func undo(_ vault: UnlockedVault, confirmed: Set<RecordID> = []) throws
        -> [UndoneChange]
    {
        let plan = try vault.planOfUndo(now: 200)
        try vault.undo(plan, confirmed: confirmed, now: 200)
        return plan
    }

    private func undo(_ copies: BoundCopies, _ place: Place) throws {
        let (renamed, removed) = (copies.ids[2], copies.ids[0])
        let boxes = try [renamed, removed].map { try copies.box($0, at: place) }
        try copies.change(at: place) { changes throws(VaultError) in
            try changes.rename(renamed, issuer: "new", account: "", now: 100)
            try changes.remove(removed, purge: false)
        }
        let plan = try undo(copies.unlock(at: place))
        #expect(plan.map(\.action) == [.restored, .changedBack([.name])])
        #expect(try [renamed, removed].map { try copies.box($0, at: place) } == boxes)
        #expect(try copies.facts(renamed, at: place).issuer == "Wi-Fi")
        #expect(try copies.facts(removed, at: place).issuer == "GitHub")
    }

    private func rekey(_ copies: BoundCopies, _ place: Place, _ change: MergeTests.Change) throws {
        let boxes = try copies.ids.map { try copies.box($0, at: place) }
        let lines = try copies.ids.map { try copies.record($0, at: place).line }
        let prints = try copies.ids.map { try copies.record($0, at: place).listed.fingerprint }
        let outer = try copies.record(copies.ids[0], at: place).body
        try copies.change(at: place, change)
        #expect(try copies.ids.map { try copies.box($0, at: place) } == boxes)
        #expect(try copies.ids.map { try copies.record($0, at: place).line } == lines)
        #expect(
            try copies.ids.map { try copies.record($0, at: place).listed.fingerprint } == prints)
        guard case .sealed(let old) = outer,
            case .sealed(let new) = try copies.record(copies.ids[0], at: place).body
        else { return }
        #expect(!old.elementsEqual(new))
        #expect(try copies.facts(copies.ids[1], at: place).movingFactor == .counter(41))
        // The file that is saved afterwards opens at home.
        try copies.change(at: place, with: copies.device, replacing(copies.ids[2], by: "n", at: 9))
        #expect(try copies.facts(copies.ids[2], at: place).secret == Array("n".utf8))
    }

    private func purge(_ copies: BoundCopies, _ place: Place) throws {
        let id = copies.ids[0]
        try copies.change(at: place) { try $0.remove(id, purge: true) }
        let vault = try copies.unlock(at: place)
        #expect(try vault.check().previous == .none && vault.entries.count == 3)
        #expect(throws: VaultError.nothingToUndo(.noPrevious)) { try vault.planOfUndo(now: 200) }
    }

    private func wipe(_ copies: BoundCopies, _ place: Place) throws {
        try copies.change(at: place) { changes throws(VaultError) in
            for id in copies.ids.dropLast() {
                try changes.wipe(id, because: .failures, now: 50)
            }
        }
        let vault = try copies.unlock(at: place)
        let entry = try vault.entry(copies.ids[0])
        #expect(entry.tombstone?.time == 50 && entry.binding == nil)
        // A wipe without the vault key also leaves the file in the format that lists the device.
        let name = place == .home ? "vault" : "copy"
        let document = try VaultDocument(parsing: copies.copies.vault.folder.bytes(of: name))
        let tombstone = Tombstone(time: 60, reason: .failures)
        let wiped = try #require(try document.wiping([copies.ids[3]], leaving: tombstone))
        #expect(wiped.version == 4)
        try copies.copies.vault.put(wiped.bytes, as: name)
        #expect(try copies.entry(copies.ids[3], at: place).hasVanished)
        // Once the last bound entry is gone, older programs read the file again.
        try copies.change(at: place) { try $0.remove(copies.ids[3], purge: false) }
        let last = try VaultDocument(parsing: copies.copies.vault.folder.bytes(of: name))
        #expect(last.version < 4)
    }

    private func check(_ copies: BoundCopies, _ place: Place) throws {
        let vault = try copies.unlock(at: place)
        let check = try vault.check()
        #expect(check.damages.isEmpty)
        #expect(check.opened == (place == .home ? 4 : 0))
        #expect(check.closed == (place == .home ? 0 : 4))
        // A key that is here but cannot be used is reported for each entry.
        let other = try copies.unlock(at: .elsewhere)
        other.key.devices.addHomes([copies.device.id])
        other.key.devices.note(.damaged, of: copies.device.id)
        let reports = try other.check().reports.filter { $0.entry != nil }
        #expect(reports == copies.ids.map { .deviceKeyUnusable($0, .damaged) })
    }

    @Test("the end of a binding is undone on its device; elsewhere, only names and details return")
    func unbinding() throws {
        let copies = try BoundCopies()
        let (id, enrolled) = (copies.ids[2], copies.ids[3])
        try copies.change(at: .home) { changes throws(VaultError) in
            for id in [id, enrolled] { try changes.unbind(id, now: 100) }
            try changes.rename(id, issuer: "new", account: "", now: 100)
        }
        try copies.merge(at: .elsewhere)
        let closed = UndoneChange.Action.closed(device: "laptop")
        #expect(
            try undo(copies.unlock(at: .elsewhere)).map(\.action)
                == [closed, closed, .changedBack([.name])])
        #expect(try copies.entry(id, at: .elsewhere).binding == nil)
        // The enrolled secret keeps its newest state.
        try copies.change(at: .home) { changes throws(VaultError) in
            for id in [id, enrolled] { try changes.bind(id, to: copies.device.id, now: 100) }
        }
        try copies.change(at: .home) { changes throws(VaultError) in
            for id in [id, enrolled] { try changes.unbind(id, now: 100) }
            try changes.advance(enrolled, to: BoundCopies.enrolled(5))
        }
        let plan = try undo(copies.unlock(at: .home))
        #expect(
            plan.map(\.action) == [.changedBack([.accessControl]), .changedBack([.accessControl])])
        for id in [id, enrolled] {
            #expect(try copies.entry(id, at: .home).binding?.device == copies.device.id)
        }
        #expect(try copies.entry(enrolled, at: .home).binding?.state == 5)
    }

    @Test("a binding cannot be undone, because the unbound secret was purged")
    func binding() throws {
        let copies = try BoundCopies(bound: false)
        try copies.change(at: .home) { try $0.bind(copies.ids[0], to: copies.device.id, now: 100) }
        #expect(throws: VaultError.nothingToUndo(.noPrevious)) {
            try copies.unlock(at: .home).planOfUndo(now: 200)
        }
    }

    @Test("on a different device, an undo reports no kept secret if the secret has only advanced")
    func advanced() throws {
        let copies = try BoundCopies()
        try copies.change(at: .home) { changes throws(VaultError) in
            _ = try changes.advanceCounter(of: copies.ids[1])
            try changes.advance(copies.ids[3], to: BoundCopies.enrolled(3))
        }
        try copies.merge(at: .elsewhere)
        #expect(throws: VaultError.nothingToUndo(.onlyAdvanced)) {
            try copies.unlock(at: .elsewhere).planOfUndo(now: 200)
        }
    }

    @Test(
        "a merge that keeps both copies binds both if one is bound; it can be undone and repeated",
        arguments: Place.allCases)
    func keptBoth(bound: Place) throws {
        let copies = try BoundCopies(bound: false)
        let id = copies.ids[0]
        try copies.change(at: bound, with: copies.device) {
            try $0.bind(id, to: copies.device.id, now: 150)
        }
        let edited = try Credential(
            issuer: "GitHub", account: "alice@example.com", key: secret("12345678901234567890"),
            style: .decimal(.eight))
        let names = EntryNames(issuer: "GitHub", account: "alice@example.com (conflict)")
        let isChanged = bound == .elsewhere
        try copies.change(at: bound.other) {
            try $0.replace(id, with: .oneTimePassword(edited), now: 100)
        }
        for _ in 0..<2 {
            #expect(try copies.merge(at: .home).changes.map(\.action) == [.keptBoth(copy: names)])
            #expect(try copies.merge(at: .home).isMerged)
            let merged = try copies.unlock(at: .home)
            #expect(merged.entries.map { $0.binding != nil } == [true, true, false, false, false])
            #expect(try merged.check().opened == 5)
            let plan = try undo(merged)
            #expect(
                plan.first?.action
                    == (isChanged ? .changedBack([.secret, .accessControl]) : .removed))
            #expect(plan.last?.action == .removed)
            #expect((try copies.entry(id, at: .home).binding == nil) == isChanged)
        }
    }

    @Test("on the bound device, a secret and its access control return under the device's key")
    func secrets() throws {
        let copies = try BoundCopies()
        let id = copies.ids[2]
        let strict = AccessControl(presence: .perUse(.any), onFailure: .lockOut)
        try copies.change(at: .home) { changes throws(VaultError) in
            try changes.setAccessControl(of: id, to: strict, now: 100)
            try replacingSecret(of: id, in: &changes)
        }
        // A copy that received the merge elsewhere keeps both entries when the merge is undone.
        try copies.merge(at: .elsewhere)
        let there = try copies.unlock(at: .elsewhere)
        let bytes = try copies.copies.vault.folder.bytes(of: "copy")
        #expect(try there.planOfUndo(now: 200).map(\.action) == [.closed(device: "laptop")])
        #expect(throws: VaultError.nothingToUndo(.closed)) { try undo(there) }
        #expect(try copies.copies.vault.folder.bytes(of: "copy") == bytes)
        let plan = try undo(copies.unlock(at: .home), confirmed: [id])
        #expect(plan.map(\.action) == [.changedBack([.secret, .accessControl])])
        #expect(try copies.facts(id, at: .home).secret == Array("a plain password".utf8))
        #expect(try copies.entry(id, at: .home).binding?.device == copies.device.id)
    }

    private func replacingSecret(
        of id: RecordID, in changes: inout VaultChanges
    ) throws(VaultError) {
        try changes.replace(
            id, with: .plainSecret(issuer: "Wi-Fi", account: "home", value: secret("new")),
            now: 100)
    }

    @Test("a vanished entry returns with exactly its box, and with an older box only on its device")
    func vanished() throws {
        for place in Place.allCases {
            let copies = try BoundCopies()
            let (id, older) = (copies.ids[0], copies.ids[2])
            try copies.change(at: place, with: copies.device, replacing(older, by: "new", at: 100))
            let name = place == .home ? "vault" : "copy"
            let document = try VaultDocument(parsing: copies.copies.vault.folder.bytes(of: name))
            let tombstone = Tombstone(time: 50, reason: .failures)
            let forged = try #require(try document.wiping([id, older], leaving: tombstone))
            try copies.copies.vault.put(forged.bytes, as: name)
            let plan = try undo(copies.unlock(at: place))
            #expect(
                plan.map(\.action)
                    == [
                        .restored,
                        place == .home ? .restoredOlder(.secret) : .closed(device: "laptop"),
                    ])
            #expect(try copies.facts(id, at: place).issuer == "GitHub")
            guard place == .home else {
                #expect(throws: VaultError.nothingToUndo(.vanished)) {
                    try copies.unlock(at: place).planOfUndo(now: 200)
                }
                continue
            }
            let secret = try copies.facts(older, at: place).secret
            #expect(secret == Array("a plain password".utf8))
            #expect(try copies.entry(older, at: place).binding?.device == copies.device.id)
        }
    }
}
