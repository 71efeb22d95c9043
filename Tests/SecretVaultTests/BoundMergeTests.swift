import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

/// Merging entries that are bound to a device, both on that device and on one that cannot open
/// them.
struct BoundMergeTests {
    /// The rules of merging, as VaultFile.md numbers them.
    enum Rule: CaseIterable {
        case newer, equal, independent, advanced, stricter, wiped, alone
    }

    @Test(
        "each rule for merging holds on the bound device and elsewhere", arguments: Rule.allCases,
        BoundCopies.Place.allCases)
    func rule(rule: Rule, place: BoundCopies.Place) throws {
        let copies = try BoundCopies()
        switch rule {
        case .newer: try newer(copies, place)
        case .equal: try equal(copies, place)
        case .independent: try independent(copies, place)
        case .advanced: try advanced(copies, place)
        case .stricter: try stricter(copies, place)
        case .wiped: try wiped(copies, place)
        case .alone: try alone(copies, place)
        }
        // A merged copy is not merged again.
        #expect(try copies.merge(at: place).isMerged)
        for entry in try copies.unlock(at: place).entries where entry.tombstone == nil {
            #expect(entry.binding?.device == copies.device.id)
            #expect(entry.binding?.isHere == (place == .home))
        }
    }

    private func newer(_ copies: BoundCopies, _ place: BoundCopies.Place) throws {
        let id = copies.ids[2]
        let box = try copies.box(id, at: .home)
        switch place {
        case .home:
            try copies.change(at: .elsewhere, renaming(id, to: "renamed", at: 100))
            #expect(try copies.merge(at: .home).changes.map(\.action) == [.replaced([.name])])
            #expect(try copies.facts(id, at: .home).issuer == "renamed")
            #expect(try copies.box(id, at: .home) == box)
        case .elsewhere:
            #expect(throws: VaultError.boundElsewhere) {
                try copies.change(at: .elsewhere, replacing(id, by: "there", at: 100))
            }
            try copies.change(at: .home, replacing(id, by: "new", at: 100))
            let plan = try copies.merge(at: .elsewhere)
            #expect(plan.changes.map(\.action) == [.replaced([.secret])])
            #expect(try copies.facts(id, at: .elsewhere).secret == Array("new".utf8))
            #expect(try copies.box(id, at: .elsewhere) == copies.box(id, at: .home))
            let lines = try BoundCopies.Place.allCases.map { try copies.record(id, at: $0).line }
            #expect(lines[0] == lines[1])
        }
    }

    private func equal(_ copies: BoundCopies, _ place: BoundCopies.Place) throws {
        let id = copies.ids[0]
        let box = try copies.box(id, at: .home)
        try copies.change(at: .home, renaming(id, to: "same", at: 100))
        try copies.change(at: .elsewhere, renaming(id, to: "same", at: 5000))
        #expect(try copies.merge(at: place).changes.isEmpty)
        #expect(try copies.entry(id, at: place).edited.time == 5000)
        #expect(try copies.box(id, at: place) == box)
    }

    private func independent(_ copies: BoundCopies, _ place: BoundCopies.Place) throws {
        let id = copies.ids[0]
        try copies.change(at: .home, renaming(id, to: "here", at: 100))
        try copies.change(at: .elsewhere, renaming(id, to: "there", at: 101))
        let actions = try copies.merge(at: place).changes.map(\.action)
        let entries = try copies.unlock(at: place).entries
        switch place {
        case .home:
            #expect(actions == [.keptBoth(copy: EntryNames(issuer: "here", account: "(conflict)"))])
            #expect(entries.map(\.issuer) == ["there", "here", "Bänk", "Wi-Fi", "shop"])
        case .elsewhere:
            #expect(actions == [.kept])
            #expect(entries.map(\.issuer) == ["there", "Bänk", "Wi-Fi", "shop"])
        }
    }

    private func advanced(_ copies: BoundCopies, _ place: BoundCopies.Place) throws {
        let (counter, enrolled) = (copies.ids[1], copies.ids[3])
        try copies.change(at: .home) { changes throws(VaultError) in
            for _ in 0..<2 { _ = try changes.advanceCounter(of: counter) }
            try changes.advance(enrolled, to: BoundCopies.enrolled(3))
        }
        for id in [counter, enrolled] {
            try copies.change(at: .elsewhere, renaming(id, to: "later", at: 5000))
        }
        let actions = try copies.merge(at: place).changes.map(\.action)
        switch place {
        case .home: #expect(actions == [.replaced([.name]), .replaced([.name])])
        case .elsewhere: #expect(actions == [.advanced, .advanced])
        }
        let vault = try copies.unlock(at: place)
        #expect(try vault.counter(of: counter) == 43)
        #expect(try vault.entry(enrolled).binding?.state == 3)
        #expect(try [counter, enrolled].allSatisfy { try vault.entry($0).issuer == "later" })
        #expect(try copies.facts(counter, at: place).movingFactor == .counter(43))
    }

    private func stricter(_ copies: BoundCopies, _ place: BoundCopies.Place) throws {
        let id = copies.ids[2]
        let strict = AccessControl(presence: .perUse(.any), onFailure: .lockOut)
        try copies.change(at: .home) { try $0.setAccessControl(of: id, to: strict, now: 100) }
        try copies.change(at: .elsewhere, renaming(id, to: "later", at: 5000))
        let plan = try copies.merge(at: place, confirmed: [id])
        #expect(
            plan.changes.map(\.action)
                == [.replaced(place == .home ? [.name] : [.accessControl])])
        let entry = try copies.entry(id, at: place)
        #expect(entry.accessControl == strict && entry.issuer == "later")
        #expect(try copies.facts(id, at: place).secret == Array("a plain password".utf8))
        #expect(throws: VaultError.boundElsewhere) {
            try copies.change(at: .elsewhere) {
                try $0.setAccessControl(of: id, to: .standard(for: .secret), now: 6000)
            }
        }
    }

    private func wiped(_ copies: BoundCopies, _ place: BoundCopies.Place) throws {
        let id = copies.ids[0]
        try copies.change(at: place.other) { try $0.wipe(id, because: .failures, now: 50) }
        // Both histories contain the last edit, and the name changes on the other side.
        try copies.change(at: place, renaming(id, to: "renamed", at: 100))
        #expect(try copies.merge(at: place).changes.map(\.action) == [.wiped])
        let entry = try copies.entry(id, at: place)
        #expect(entry.tombstone?.time == 50 && entry.binding == nil && entry.issuer == "renamed")
    }

    private func alone(_ copies: BoundCopies, _ place: BoundCopies.Place) throws {
        let content = EntryContent.plainSecret(issuer: "new", account: "", value: secret("new"))
        try copies.change(at: place.other) { changes throws(VaultError) in
            try changes.remove(copies.ids[1], purge: false)
            guard place == .elsewhere else { return }
            try changes.add(content, boundTo: copies.device.id, now: 100)
        }
        let plan = try copies.merge(at: place)
        #expect(plan.changes.map(\.action) == [.removed] + (place == .home ? [] : [.added]))
        guard place == .elsewhere, let added = try copies.unlock(at: place).entries.last else {
            return
        }
        #expect(try copies.facts(added.id, at: .elsewhere) == Facts(content))
        #expect(try copies.box(added.id, at: .elsewhere) == copies.box(added.id, at: .home))
    }

    @Test("the end of a binding takes precedence over a bound copy, wherever they are merged")
    func unbound() throws {
        for place in BoundCopies.Place.allCases {
            let copies = try BoundCopies()
            try copies.change(at: .home) { changes throws(VaultError) in
                for id in copies.ids { try changes.unbind(id, now: 100) }
            }
            try copies.change(at: .elsewhere) { changes throws(VaultError) in
                try changes.remove(copies.ids[0], purge: false)
            }
            try copies.merge(at: place)
            let vault = try copies.unlock(at: place)
            #expect(vault.entries.allSatisfy { $0.binding == nil })
            #expect(try vault.check().opened == 4)
        }
    }

    @Test("a binding takes precedence over an edit of the name elsewhere")
    func bound() throws {
        for place in BoundCopies.Place.allCases {
            let copies = try BoundCopies(bound: false)
            let id = copies.ids[0]
            try copies.change(at: .home) { try $0.bind(id, to: copies.device.id, now: 100) }
            try copies.change(at: .elsewhere, renaming(id, to: "later", at: 5000))
            let plan = try copies.merge(at: place)
            #expect(plan.unmerged.isEmpty)
            let entry = try copies.entry(id, at: place)
            #expect(entry.binding?.name == "laptop" && entry.issuer == "later")
            let key = Array("12345678901234567890".utf8)
            #expect(try copies.facts(id, at: place).secret == key)
        }
    }

    @Test("a key entered elsewhere is merged only by the device, whose result is then adopted")
    func newKey() throws {
        let copies = try BoundCopies(bound: false)
        let id = copies.ids[2]
        try copies.change(at: .home) { try $0.bind(id, to: copies.device.id, now: 200) }
        try copies.change(at: .elsewhere, replacing(id, by: "there", at: 100))
        let bytes = try copies.copies.vault.folder.bytes(of: "copy")
        let plan = try copies.merge(at: .elsewhere)
        #expect(plan.leftToHome.map(\.binding?.name) == ["laptop"])
        #expect(plan.unmerged.map(\.id) == [id] && plan.leftToOwner.isEmpty && !plan.isMerged)
        #expect(try copies.copies.vault.folder.bytes(of: "copy") == bytes)
        // The secrets differ, so both entries stay.
        #expect(try copies.merge(at: .home).unmerged.isEmpty)
        #expect(try copies.merge(at: .elsewhere).unmerged.isEmpty)
        for place in BoundCopies.Place.allCases {
            let vault = try copies.unlock(at: place)
            let second = try #require(vault.entries.first { $0.account == "home (conflict)" })
            #expect(vault.entries.filter { $0.binding != nil }.map(\.id) == [id, second.id])
            #expect(try copies.facts(second.id, at: place).secret == Array("there".utf8))
            #expect(try copies.facts(id, at: place).secret == Array("a plain password".utf8))
        }
    }

    @Test("an enrolled secret elsewhere gives way to the bound one if that is newer")
    func enrolled() throws {
        for (elsewhere, isLeft) in [(3, false), (4, true), (5, true)] as [(UInt64, Bool)] {
            let copies = try BoundCopies(bound: false)
            let id = copies.ids[3]
            try copies.change(at: .elsewhere) {
                try $0.advance(id, to: BoundCopies.enrolled(elsewhere))
            }
            try copies.change(at: .elsewhere, renaming(id, to: "later", at: 5000))
            try copies.change(at: .home) { changes throws(VaultError) in
                try changes.bind(id, to: copies.device.id, now: 100)
                try changes.advance(id, to: BoundCopies.enrolled(4))
            }
            let plan = try copies.merge(at: .elsewhere)
            #expect(plan.leftToHome.map(\.id) == (isLeft ? [id] : []))
            try copies.merge(at: .home)
            #expect(try copies.merge(at: .elsewhere).unmerged.isEmpty)
            for place in BoundCopies.Place.allCases {
                #expect(try copies.entry(id, at: place).binding?.state == max(elsewhere, 4))
            }
        }
    }

    @Test("an older state of an enrolled secret does not return when its binding ends")
    func olderUnbinding() throws {
        let copies = try BoundCopies()
        let id = copies.ids[3]
        // A different copy of the device's own vault has a newer state.
        try copies.change(at: .elsewhere, with: copies.device) {
            try $0.advance(id, to: BoundCopies.enrolled(5))
        }
        try copies.change(at: .home) { try $0.unbind(id, now: 100) }
        #expect(try copies.merge(at: .elsewhere).leftToHome.map(\.id) == [id])
        try copies.merge(at: .home)
        #expect(try copies.merge(at: .elsewhere).unmerged.isEmpty)
        let vault = try copies.unlock(at: .elsewhere)
        let payload = try vault.open(id).payload
        #expect(payload.state(of: .enrolled) == 5)
    }

    @Test("copies that are bound to two devices wait for the owner; the newer enrolment wins")
    func twoDevices() throws {
        let copies = try BoundCopies(bound: false)
        let (id, enrolled) = (copies.ids[2], copies.ids[3])
        let other = try testDevice(2, name: "tower")
        try copies.change(at: .home) { changes throws(VaultError) in
            for id in [id, enrolled] { try changes.bind(id, to: copies.device.id, now: 100) }
        }
        try copies.change(at: .elsewhere, with: other) { changes throws(VaultError) in
            for id in [id, enrolled] { try changes.bind(id, to: other.id, now: 200) }
            try changes.advance(enrolled, to: BoundCopies.enrolled(3))
        }
        for place in BoundCopies.Place.allCases {
            let plan = try copies.merge(at: place, with: place == .home ? nil : other)
            #expect(plan.leftToOwner.map(\.id) == [id] && plan.leftToHome.isEmpty)
            #expect(plan.unmerged.map(\.id) == [id])
            #expect(try copies.entry(enrolled, at: place).binding?.name == "tower")
        }
        // The owner decides by removing one of the two entries.
        try copies.change(at: .home) { try $0.remove(id, purge: false) }
        let plan = try copies.merge(at: .home)
        #expect(plan.unmerged.isEmpty && plan.changes.contains { $0.action == .added })
        #expect(try copies.entry(id, at: .home).binding?.name == "tower")
    }

    @Test("of two copies bound to one device, only secrets that it must open are left to it")
    func forked() throws {
        let copies = try BoundCopies()
        let ids = copies.ids
        func use(_ count: Int, _ state: UInt64, _ value: String) -> MergeTests.Change {
            { changes in
                for _ in 0..<count { _ = try changes.advanceCounter(of: ids[1]) }
                try replacing(ids[2], by: value, at: 100)(&changes)
                try changes.advance(ids[3], to: BoundCopies.enrolled(state))
            }
        }
        // The device has used an older copy of its vault, and saved that copy more often.
        try copies.change(at: .elsewhere, renaming(ids[0], to: "other", at: 90))
        try copies.change(at: .elsewhere, with: copies.device, use(3, 3, "there"))
        try copies.change(at: .home, use(1, 3, "here"))
        let plan = try copies.merge(at: .elsewhere)
        #expect(plan.leftToHome.map(\.id) == [ids[2], ids[3]])
        #expect(try copies.unlock(at: .elsewhere).counter(of: ids[1]) == 44)
        let atHome = try copies.merge(at: .home)
        #expect(atHome.unmerged.isEmpty)
        #expect(try copies.unlock(at: .home).counter(of: ids[1]) == 44)
        #expect(try copies.merge(at: .elsewhere).unmerged.isEmpty)
        for id in ids {
            #expect(try copies.box(id, at: .elsewhere) == copies.box(id, at: .home))
        }
    }

    @Test("a secret that the device has overruled does not return", arguments: [false, true])
    func overruled(isRenamed: Bool) throws {
        let copies = try BoundCopies()
        let id = copies.ids[2]
        // The device has used an older copy of its vault, and saved that copy more often.
        try copies.change(at: .elsewhere, renaming(copies.ids[0], to: "other", at: 90))
        try copies.change(
            at: .elsewhere, with: copies.device, replacing(id, by: "there", at: 100))
        try copies.change(at: .home, replacing(id, by: "here", at: 200))
        try copies.merge(at: .home)
        if isRenamed { try copies.change(at: .elsewhere, renaming(id, to: "later", at: 300)) }
        #expect(try copies.merge(at: .elsewhere).unmerged.isEmpty)
        for place in BoundCopies.Place.allCases {
            #expect(try copies.facts(id, at: place).secret == Array("here".utf8))
        }
    }

    @Test("a binding that is older than the recorded saves can be ended")
    func longBound() throws {
        let copies = try BoundCopies()
        for isCopied in [true, false] {
            let vault = try copies.unlock(at: .home)
            var state = vault.state
            for _ in 0..<300 { state = try state.next(after: nil) }
            try copies.copies.vault.put(state.written(with: vault.key), as: "vault")
            if isCopied { try copies.copyHome() }
        }
        try copies.change(at: .home) { try $0.unbind(copies.ids[2], now: 200) }
        #expect(try copies.merge(at: .elsewhere).unmerged.isEmpty)
        #expect(try copies.entry(copies.ids[2], at: .elsewhere).binding == nil)
    }

    @Test("an edit of a copy that is bound to the key from before a move does not need that key")
    func moved() throws {
        let copies = try BoundCopies()
        let ids = [copies.ids[2], copies.ids[3]]
        let key = try testDevice(2)
        let vault = try copies.unlock(at: .elsewhere, with: copies.device)
        try vault.key.devices.attach(key)
        try vault.change { try $0.rebind(from: [copies.device.id], to: key.id, now: 100) }
        for id in ids { try copies.change(at: .home, renaming(id, to: "later", at: 5000)) }
        #expect(try copies.merge(at: .elsewhere, with: key).unmerged.isEmpty)
        for id in ids {
            let entry = try copies.entry(id, at: .elsewhere)
            #expect(entry.binding?.device == key.id && entry.issuer == "later")
        }
    }

    @Test("after a rekey on one side, inner boxes are still recognised as equal")
    func rekeyed() throws {
        for place in BoundCopies.Place.allCases {
            let copies = try BoundCopies()
            let boxes = try copies.ids.map { try copies.box($0, at: .home) }
            try copies.change(at: place) { try $0.rekey() }
            try copies.change(at: place.other, renaming(copies.ids[0], to: "later", at: 5000))
            let plan = try copies.merge(at: place)
            #expect(plan.changes.map(\.action) == [.replaced([.name])])
            #expect(try copies.ids.map { try copies.box($0, at: place) } == boxes)
        }
    }

    @Test("a bound entry that has vanished returns with exactly its box, or with a newer edit")
    func vanished() throws {
        for place in BoundCopies.Place.allCases {
            let copies = try BoundCopies()
            let (id, edited) = (copies.ids[0], copies.ids[2])
            // Only the device can seal the secret again.
            try copies.change(
                at: place.other,
                place == .home
                    ? renaming(edited, to: "later", at: 100) : replacing(edited, by: "new", at: 100)
            )
            let name = place == .home ? "vault" : "copy"
            let document = try VaultDocument(parsing: copies.copies.vault.folder.bytes(of: name))
            let tombstone = Tombstone(time: 50, reason: .failures)
            let forged = try #require(try document.wiping([id, edited], leaving: tombstone))
            try copies.copies.vault.put(forged.bytes, as: name)
            let plan = try copies.merge(at: place)
            #expect(plan.unmerged.isEmpty)
            #expect(plan.changes.prefix(2).map(\.action) == [.restored, .restored])
            for id in [id, edited] {
                #expect(try copies.box(id, at: place) == copies.box(id, at: place.other))
            }
            let facts = try copies.facts(edited, at: place)
            #expect(place == .home ? facts.issuer == "later" : facts.secret == Array("new".utf8))
        }
    }
}
