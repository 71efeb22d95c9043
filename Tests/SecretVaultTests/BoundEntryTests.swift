import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import SecretVault

/// Operations on bound entries, on their device and on other devices.
struct BoundEntryTests {
    private func plain(_ text: String) -> EntryContent {
        .plainSecret(issuer: "Wi-Fi", account: "home", value: secret(text))
    }

    @Test("an entry that becomes bound is erased from older files, and the binding can be ended")
    func binding() throws {
        let (vault, device) = (try TestVault(), try TestDevice())
        let ids = try vault.fill()
        let box = try vault.box(of: ids[2])
        let open = try device.unlock(vault)
        let key = try device.makeKey(for: open)
        try open.change { try $0.bind(ids[2], to: key, now: TestVault.now + 5) }
        #expect(try vault.holders(of: box) == [])
        #expect(try !vault.files().contains(TestVault.own("previous")))
        let edited = open.entries[2].edited
        #expect(edited.time == TestVault.now + 5 && edited.save == open.state.history.newest.id)
        #expect(try vault.unlock().entries[2].binding?.device == key)
        try open.change { try $0.unbind(ids[2], now: TestVault.now + 6) }
        #expect(try Facts(vault.unlock().open(ids[2])) == Facts(TestVault.contents()[2]))
        #expect(try vault.unlock().entries.allSatisfy { $0.binding == nil })
        // An entry that is bound to one key can be bound to a different key.
        let other = try device.makeKey(.tpm, for: open)
        for device in [key, other] {
            try open.change { try $0.bind(ids[2], to: device, now: TestVault.now) }
            #expect(open.entries[2].binding?.device == device)
        }
    }

    @Test(
        "the number of an enrolled secret's state increases with each step, up to a device key",
        arguments: [
            (enrolledForm(generation: 3, isPresented: false), 6),
            (enrolledForm(generation: 3, isPresented: true), 7),
            (enrolledForm(generation: 3, isPresented: false, hasSuccessor: true), 8),
            (enrolledForm(generation: 3, isPresented: true, hasSuccessor: true), 9),
            (enrolledForm(generation: 1 << 62, isPresented: true), 0),
            (secret("wws_what it says"), 0), (secret(""), 0),
            (keyForm(credential: ""), 1 << 63), (keyForm(credential: "cr_1"), 1 << 63 + 1),
        ] as [(SecretBytes, UInt64)])
    func enrolledState(form: SecretBytes, number: UInt64) {
        #expect(EnrolledState.number(of: form) == number)
        #expect(RecordPayload.bytes(form).state(of: .enrolled) == number)
        #expect(RecordPayload.bytes(form).state(of: .secret) == 0)
    }

    private static func keyForm(credential: String) -> SecretBytes {
        SecretBytes(capacity: 64) { output in
            output.append(2)
            for text in ["https://example.com", "", credential] {
                output.append(string: Array(text.utf8).span)
            }
        }
    }

    @Test("no entry can be bound to a key that was not loaded")
    func unknownKey() throws {
        let bound = try BoundVault(bound: 0..<0)
        let bytes = try bound.vault.bytes()
        let open = try bound.elsewhere()
        #expect(throws: VaultError.boundElsewhere) {
            try open.change { try $0.bind(bound.ids[2], to: bound.key) }
        }
        #expect(throws: VaultError.boundElsewhere) {
            try open.change { try $0.add(plain("x"), boundTo: bound.key, now: 0) }
        }
        open.key.devices.addHomes([bound.key])
        #expect(throws: VaultError.deviceKey(.missing)) {
            try open.change { try $0.bind(bound.ids[2], to: bound.key) }
        }
        #expect(try bound.vault.bytes() == bytes)
    }

    @Test("on its device, a bound entry can be changed like any other, and stays bound")
    func home() throws {
        let bound = try BoundVault()
        let open = try bound.home()
        let access = AccessControl(presence: .perUse(.any), onFailure: .lockOut)
        try open.change { changes in
            try changes.replace(bound.ids[2], with: plain("new"), now: TestVault.now)
            try changes.setAccessControl(of: bound.ids[0], to: access)
            _ = try changes.advanceCounter(of: bound.ids[1])
        }
        let again = try bound.home()
        #expect(try Facts(again.open(bound.ids[2])) == Facts(plain("new")))
        #expect(again.entries[0].accessControl == access)
        #expect(try again.counter(of: bound.ids[1]) == 42)
        #expect(again.entries[1].binding?.state == 42)
        #expect(again.entries.allSatisfy { $0.binding?.device == bound.key })
        #expect(try again.check().damages.isEmpty && again.check().opened == 4)
        // The counter never decreases.
        guard case .oneTimePassword(let credential) = try TestVault.contents()[1] else { return }
        let raised = try again.rehearse { changes throws(VaultError) in
            try changes.content(.oneTimePassword(credential), notBehind: bound.ids[1])
        }
        #expect(raised.counter == 42)
    }

    @Test("on a different device, the secret and access control of a bound entry cannot change")
    func refused() throws {
        let bound = try BoundVault()
        let open = try bound.elsewhere()
        let bytes = try bound.vault.bytes()
        let id = bound.ids[1]
        let access = AccessControl(presence: .perUse(.any), onFailure: .lockOut)
        guard case .oneTimePassword(let credential) = try TestVault.contents()[1] else { return }
        let content = EntryContent.oneTimePassword(credential.moved(to: 99))
        func refuse(_ change: (inout VaultChanges) throws -> Void, line: Int = #line) {
            #expect(throws: VaultError.boundElsewhere, "line \(line)") { try open.change(change) }
        }
        refuse { try $0.replace(id, with: content) }
        refuse { try $0.advance(id, to: content) }
        refuse { _ = try $0.advanceCounter(of: id) }
        refuse { try $0.raiseCounter(of: id, to: 99) }
        refuse { try $0.setAccessControl(of: id, to: access) }
        refuse { _ = try $0.content(of: id) }
        refuse { _ = try $0.content(content, notBehind: id) }
        refuse { try $0.unbind(id) }
        refuse { try $0.rebind(from: [bound.key], to: bound.key) }
        #expect(try bound.vault.bytes() == bytes)
    }

    @Test(
        "on a different device, all else in a bound entry can change; its inner box stays as it is")
    func elsewhere() throws {
        let bound = try BoundVault()
        let boxes = try bound.ids.map { try bound.vault.box(of: $0) }
        let open = try bound.elsewhere()
        try open.change { changes in
            try changes.rename(bound.ids[0], issuer: "other", account: "name")
            try changes.setDetails(of: bound.ids[1], to: EntryDetails(tags: ["x"]))
            try changes.remove(bound.ids[2], purge: false)
            try changes.wipe(bound.ids[3], because: .revoked, now: TestVault.now)
        }
        for place in 0...1 { #expect(try bound.vault.box(of: bound.ids[place]) == boxes[place]) }
        let home = try bound.home()
        #expect(home.entries.map(\.issuer) == ["other", "Bänk", "shop"])
        #expect(home.entries.map { $0.binding != nil } == [true, true, false])
        #expect(try home.check().opened == 2)
        #expect(try bound.vault.bytes().starts(with: "watchword-vault 4\n".utf8))
    }

    @Test("a device's keys stay loaded when the vault gets a new key, and are wiped with that key")
    func ring() throws {
        let bound = try BoundVault()
        let open = try bound.home()
        try open.change { try $0.rekey() }
        #expect(throws: Never.self) { try open.open(bound.ids[0]) }
        let held = HeldVault(open)
        let other = held.vault()
        #expect(other.key.devices === open.key.devices)
        #expect(open.holdsKey(of: open.entries[0]))
        held.heldKey.wipe()
        #expect(throws: VaultError.busy) { try other.open(bound.ids[0]) }
        #expect(!open.holdsKey(of: open.entries[0]))
        #expect(throws: VaultError.busy) { try open.key.devices.keys() }
    }

    @Test("entries with the same secret are found across bindings, in list order")
    func duplicates() throws {
        let bound = try BoundVault(bound: 2..<3)
        let content = try TestVault.contents()[2]
        let home = try bound.home()
        let second = try home.change { try $0.add(content, now: 0) }
        let third = try home.change { try $0.add(content, boundTo: bound.key, now: 0) }
        func found(_ vault: UnlockedVault) throws -> [RecordID] {
            try vault.rehearse { changes throws(VaultError) in
                try changes.entries(equivalentTo: content)
            }
        }
        #expect(try found(home) == [bound.ids[2], second, third])
        #expect(try found(bound.elsewhere()) == [second])
        // The fingerprint index reflects the changes of one save.
        try home.change { changes in
            #expect(try changes.entries(withSecretOf: content).count == 3)
            try changes.bind(second, to: bound.key)
            try changes.unbind(third)
            try changes.replace(bound.ids[2], with: plain("other"))
            #expect(try changes.entries(withSecretOf: content) == [second, third])
            #expect(try changes.entries(withSecretOf: plain("other")) == [bound.ids[2]])
        }
    }

    @Test("a move binds entries to a key of the new place once, and failures stay counted")
    func moved() throws {
        let bound = try BoundVault(bound: 1..<3)
        let document = try VaultDocument(parsing: bound.vault.bytes())
        let tombstone = Tombstone(time: 50, reason: .failures)
        let forged = try #require(try document.wiping([bound.ids[0]], leaving: tombstone))
        try bound.vault.put(forged.bytes)
        let open = try bound.home()
        let lines = open.state.records.map(\.line)
        let new = try bound.device.makeKey(.tpm, for: open)
        for count in [2, 0] {
            let former: Set = [bound.key]
            #expect(try open.change { try $0.rebind(from: former, to: new) } == count)
        }
        #expect(open.state.records.map(\.line) == lines)
        #expect(open.entries.map(\.binding?.device) == [nil, new, new, nil])
        #expect(open.entries[1].edited.save == open.state.history.newest.id)
        try bound.device.store.erase([bound.key], of: open.key.vaultID)
        let again = try bound.home()
        #expect(try again.check().opened == 3 && again.counter(of: bound.ids[1]) == 41)
        #expect(again.entries[0].hasVanished)
    }

    @Test("an entry that has vanished can be replaced only on its device, a wiped entry everywhere")
    func replaced() throws {
        let bound = try BoundVault()
        let id = bound.ids[0]
        func requireHome(_ open: UnlockedVault) throws(VaultError) {
            try open.rehearse { changes throws(VaultError) in try changes.requireHome(of: id) }
        }
        func check() throws {
            try requireHome(bound.home())
            let elsewhere = try bound.elsewhere()
            #expect(throws: VaultError.boundElsewhere) { try requireHome(elsewhere) }
        }
        try check()
        let document = try VaultDocument(parsing: bound.vault.bytes())
        let tombstone = Tombstone(time: 50, reason: .failures)
        let forged = try #require(try document.wiping([id], leaving: tombstone))
        try bound.vault.put(forged.bytes)
        #expect(try bound.elsewhere().entries[0].hasVanished)
        try check()
        let open = try bound.elsewhere()
        try open.change { try $0.wipe(bound.ids[1], because: .revoked, now: TestVault.now) }
        #expect(throws: Never.self) {
            try open.rehearse { changes throws(VaultError) in
                try changes.requireHome(of: bound.ids[1])
            }
        }
    }

    @Test("an import of the vault's own format leaves bound entries out")
    func backup() throws {
        let bound = try BoundVault(bound: 1..<3)
        let backup = try VaultBackup(
            opening: bound.vault.bytes(), passphrase: TestVault.passphrase)
        #expect(backup.leftOut.map(\.id) == Array(bound.ids[1...]))
        #expect(backup.entries.count == 1)
    }

    @Test("a closed secret cannot be sealed for a different entry or setting by mistake")
    func carried() throws {
        let bound = try BoundVault()
        let open = try bound.elsewhere()
        let record = open.state.records[2]
        let payload = try record.opened(with: open.key)
        let access = AccessControl(presence: .perUse(.any), onFailure: .lockOut)
        let changed = RecordLine(
            id: record.line.id, revision: record.line.revision, accessControl: access)
        for line in [changed, open.state.records[3].line] {
            #expect(throws: VaultError.boundElsewhere) {
                _ = try VaultState.Record.sealing(
                    payload, as: line, record.listed.properties, to: nil, under: open.key)
            }
        }
        let again = try VaultState.Record.sealing(
            payload, as: record.line, record.listed.properties, to: nil, under: open.key)
        #expect(again.listed.binding == record.listed.binding)
    }
}

extension EntryContent {
    fileprivate var counter: UInt64? {
        guard case .oneTimePassword(let credential) = self,
            case .counter(let counter) = credential.movingFactor
        else { return nil }
        return counter
    }
}
