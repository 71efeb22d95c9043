import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import SecretVault

/// Format 4: the contents of the boxes and the manifest of bound records.
struct BoundFormatTests {
    /// The state of a vault, and the vault key with the device's key loaded.
    private struct Opened {
        let key: VaultKey
        let device: DeviceKey
        let state: VaultState

        init(_ bound: BoundVault) throws {
            let open = try bound.home()
            key = open.key
            device = try key.device(bound.key)
            state = open.state
        }

        /// A record that contains the inner box of `record` in a different role.
        ///
        /// Anyone who has the vault key can make such a record.
        func forged(
            _ record: VaultState.Record, as line: RecordLine? = nil, traits: EntryTraits? = nil,
            under other: VaultKey? = nil, _ change: (RecordBinding) -> RecordBinding = { $0 }
        ) throws -> VaultState.Record {
            guard case .closed(let closed) = try record.carried(with: key) else {
                throw VaultError.boundElsewhere
            }
            let (line, other) = (line ?? record.line, other ?? key)
            var properties = record.listed.properties
            properties.traits = traits ?? properties.traits
            let binding = change(closed.binding)
            let made = ClosedSecret(
                closed.box, binding, fingerprint: closed.fingerprint,
                associatedData: binding.associatedData(
                    of: line, properties.traits, in: other.vaultID))
            return try .sealing(
                .closed(#require(made)), as: line, properties, to: nil, under: other)
        }
    }

    private func changed(
        _ binding: RecordBinding, device: DeviceID? = nil, by word: DeviceBinding? = nil,
        name: String? = nil, state: UInt64? = nil
    ) -> RecordBinding {
        RecordBinding(
            device: device ?? binding.device, binding: word ?? binding.binding,
            name: name ?? binding.name, state: state ?? binding.state)
    }

    @Test("bound entries open with the device's key, and are listed without it")
    func opens() throws {
        let bound = try BoundVault()
        #expect(try bound.vault.bytes().starts(with: "watchword-vault 4\n".utf8))
        let contents = try TestVault.contents()
        let home = try bound.home()
        for (id, content) in zip(bound.ids, contents) {
            #expect(Facts(try home.open(id)) == Facts(content))
        }
        let elsewhere = try bound.elsewhere()
        #expect(elsewhere.entries.map(\.issuer) == contents.map(\.issuer))
        for (here, there) in zip(home.entries, elsewhere.entries) {
            let state: UInt64 = here.kind == .hotp ? 41 : 0
            let binding = EntryBinding(
                device: bound.key, binding: .file, name: "laptop", state: state, isHere: true)
            #expect(here.binding == binding)
            #expect(there.binding?.isHere == false && there.binding?.name == "laptop")
            #expect(throws: VaultError.boundElsewhere) { try elsewhere.open(there.id) }
        }
        #expect(try elsewhere.counter(of: bound.ids[1]) == 41)
        #expect(try elsewhere.server(of: bound.ids[3]) == nil)
    }

    @Test("an inner box opens only in its original role, even with the vault key")
    func associatedData() throws {
        let opened = try Opened(BoundVault())
        let record = opened.state.records[2]
        let damaged = VaultError.damaged(.content(record.line.id))
        #expect(throws: Never.self) {
            try opened.forged(record).content(with: opened.key)
        }
        // Only the home device raises the revision, and the name is for display only.
        let revision = record.line.sealed(in: record.line.revision - 1)
        #expect(throws: Never.self) {
            try opened.forged(record, as: revision) { changed($0, name: "other") }
                .content(with: opened.key)
        }
        let standard = record.line.accessControl
        let reuse = try #require(ReuseTime(60))
        for access in [
            AccessControl(presence: .perUse(.any), onFailure: standard.onFailure),
            AccessControl(presence: .perUse(.any), onFailure: standard.onFailure, reuse: reuse),
            AccessControl(presence: standard.presence, onFailure: .wipe(after: .three)),
        ] {
            let line = RecordLine(
                id: record.line.id, revision: record.line.revision, accessControl: access)
            let forged = try opened.forged(record, as: line)
            #expect(throws: damaged) { try forged.content(with: opened.key) }
        }
        let other = opened.state.records[3].line
        let moved = RecordLine(
            id: other.id, revision: other.revision, accessControl: record.line.accessControl)
        let second = try opened.forged(record, as: moved)
        #expect(throws: VaultError.damaged(.content(other.id))) {
            try second.content(with: opened.key)
        }
        // An enrolled secret that cannot be read has the same state as a static secret.
        let kind = try opened.forged(record, traits: .enrolled)
        #expect(throws: damaged) { try kind.content(with: opened.key) }
        let code = opened.state.records[0]
        let ninetySeconds = try #require(TimeStep(period: 90, start: 0))
        for traits in [
            EntryTraits.totp(.sha256, .decimal(.six), .standard),
            .totp(.sha1, .decimal(.eight), .standard),
            .totp(.sha1, .decimal(.six), ninetySeconds),
        ] {
            let forged = try opened.forged(code, traits: traits)
            #expect(throws: VaultError.damaged(.content(code.line.id))) {
                try forged.content(with: opened.key)
            }
        }
        let state = try opened.forged(record) { changed($0, state: 1) }
        #expect(throws: damaged) { try state.content(with: opened.key) }
        let word = try opened.forged(record) { changed($0, by: .tpm) }
        #expect(throws: damaged) { try word.content(with: opened.key) }
        // The same key under a different ID.
        let twin = DeviceID([UInt8](repeating: 9, count: 16).span)
        try opened.key.devices.attach(
            #require(
                DeviceKey(
                    id: twin, name: "twin", binding: .file, secret: opened.device.secret)))
        let device = try opened.forged(record) { changed($0, device: twin) }
        #expect(throws: damaged) { try device.content(with: opened.key) }
    }

    @Test("an inner box of another vault does not open, even under the same keys")
    func otherVault() throws {
        let opened = try Opened(BoundVault())
        let record = opened.state.records[2]
        let other = try opened.key.withSecret { secret in
            VaultKey(secret: secret, vaultID: [UInt8](repeating: 3, count: 16))
        }.sharing(opened.key.devices)
        #expect(throws: VaultError.damaged(.content(record.line.id))) {
            try opened.forged(record, under: other).content(with: other)
        }
    }

    @Test("the state in the manifest must match the content")
    func state() throws {
        let opened = try Opened(BoundVault())
        let record = opened.state.records[1]
        let payload = try record.opened(with: opened.key)
        let listed = try #require(record.listed.binding)
        for counter in [41, 42] as [UInt64] {
            let binding = changed(listed, state: counter)
            let data = binding.associatedData(
                of: record.line, record.listed.properties.traits, in: opened.key.vaultID)
            let box = try SealedBox.seal(
                payload.sealedForm(),
                under: opened.device.recordKey(record.line.id, in: opened.key.vaultID),
                associatedData: data)
            let closed = ClosedSecret(
                SecretBytes(copying: box.span), binding,
                fingerprint: try #require(record.listed.fingerprint), associatedData: data)
            let forged = try VaultState.Record.sealing(
                .closed(#require(closed)), as: record.line, record.listed.properties, to: nil,
                under: opened.key)
            guard counter != 41 else {
                #expect(throws: Never.self) { try forged.content(with: opened.key) }
                continue
            }
            #expect(throws: VaultError.damaged(.content(record.line.id))) {
                try forged.content(with: opened.key)
            }
        }
    }

    /// The file of a state in a different version, with a valid MAC.
    private func written(_ state: VaultState, _ key: VaultKey, version: Int) throws -> [UInt8] {
        var text = VaultText()
        text.write(VaultEnvelope.firstLine(version))
        text.write(VaultLines.vault(state.vaultID))
        text.write("generation \(state.generation)\n")
        for slot in state.slots { slot.slot.write(to: &text) }
        for record in state.records { record.line.write(to: &text) }
        let macLine = VaultLines.mac(try key.mac(of: text.bytes.span))
        text.write(macLine)
        for record in state.records { record.body.write(of: record.line.id, to: &text) }
        text.write("manifest ")
        text.writeBase64(try Manifest(of: state).sealed(under: key, macLine: macLine))
        text.write("\nchanges \(state.changes)\n")
        text.write(VaultEnvelope.lastLine(for: text.bytes[...]))
        return text.bytes
    }

    @Test("format 4 is written only if a record is listed as bound")
    func version() throws {
        let bound = try Opened(BoundVault(bound: 2..<3))
        func verify(_ bytes: [UInt8], _ key: VaultKey) throws(VaultError) {
            _ = try VaultState(verifying: VaultDocument(parsing: bytes), with: key)
        }
        let wrong = VaultError.damaged(.line(1))
        for version in 2...4 {
            let bytes = try written(bound.state, bound.key, version: version)
            if version == 4 {
                #expect(throws: Never.self) { try verify(bytes, bound.key) }
            } else {
                #expect(throws: wrong) { try verify(bytes, bound.key) }
            }
        }
        let plain = try TestVault()
        _ = try plain.fill()
        let open = try plain.unlock()
        let bytes = try written(open.state, open.key, version: 4)
        #expect(throws: wrong) { try verify(bytes, open.key) }
    }

    @Test("a bound entry may have a reuse time, and an unbound vault keeps its format")
    func reuse() throws {
        let bound = try BoundVault(bound: 2..<3)
        let access = AccessControl(
            presence: .perUse(.any), onFailure: .lockOut, reuse: try #require(ReuseTime(60)))
        let home = try bound.home()
        try home.change { try $0.setAccessControl(of: bound.ids[2], to: access) }
        #expect(try bound.vault.bytes().starts(with: "watchword-vault 4\n".utf8))
        #expect(try bound.home().check().damages.isEmpty)
        try home.change { try $0.unbind(bound.ids[2], now: TestVault.now) }
        #expect(try bound.vault.bytes().starts(with: "watchword-vault 3\n".utf8))
        try home.change { try $0.remove(bound.ids[2], purge: false) }
        #expect(try bound.vault.bytes().starts(with: "watchword-vault 2\n".utf8))
    }

    @Test("a wipe without the key keeps format 4, until the manifest lists it")
    func tombstone() throws {
        let bound = try BoundVault(bound: 3..<4)
        try TombstoneTests.wipe(bound.ids[3], in: bound.vault)
        let bytes = try bound.vault.bytes()
        #expect(bytes.starts(with: "watchword-vault 4\n".utf8))
        #expect(try VaultDocument(parsing: bytes).changes == 1)
        let open = try bound.elsewhere()
        #expect(open.entries[3].tombstone != nil && open.entries[3].binding == nil)
        #expect(try bound.vault.bytes().starts(with: "watchword-vault 2\n".utf8))
        #expect(try bound.elsewhere().check().damages.isEmpty)
    }

    @Test("a bound secret can be as long as an unbound secret")
    func limits() throws {
        let (vault, device) = (try TestVault(), try TestDevice())
        let open = try vault.unlock()
        let key = try device.makeKey(for: open)
        func add(_ count: Int) throws(VaultError) -> RecordID {
            let value = SecretBytes(copying: [UInt8](repeating: 1, count: count).span)
            let content = EntryContent.plainSecret(issuer: "a", account: "", value: value)
            return try open.change { try $0.add(content, boundTo: key, now: 0) }
        }
        for count in [0, 59, 60, 61, VaultLimits.secretSize] {
            let id = try add(count)
            guard case .plainSecret(_, _, let value) = try device.unlock(vault).open(id) else {
                Issue.record("another kind")
                return
            }
            #expect(value.count == count)
        }
        #expect(throws: VaultError.overLimit(.secret)) { try add(VaultLimits.secretSize + 1) }
        // The inner box is at most one step of 64 bytes longer than its content.
        let sizes = try open.state.records.map { record in
            guard case .closed(let closed) = try record.carried(with: open.key) else { return 0 }
            return closed.box.count
        }
        #expect(sizes == [92, 92, 92, 156, 65_628])
    }

    @Test("content that cannot be an inner box counts as damage, even without the device's key")
    func shape() throws {
        let bound = try BoundVault()
        let opened = try Opened(bound)
        let record = opened.state.records[2]
        let elsewhere = try bound.elsewhere()
        for count in [0, 28, 91, 93] {
            let payload = RecordPayload.bytes(
                SecretBytes(copying: [UInt8](repeating: 1, count: count).span))
            let plain = try VaultState.Record.sealing(
                payload, as: record.line, record.listed.properties, to: nil, under: opened.key)
            guard case .sealed(let digest, let fingerprint, _) = plain.listed.secret else {
                return
            }
            var listed = plain.listed
            listed.secret = .sealed(
                digest: digest, fingerprint: fingerprint, binding: record.listed.binding)
            let forged = VaultState.Record(line: record.line, listed: listed, body: plain.body)
            for key in [opened.key, elsewhere.key] {
                #expect(throws: VaultError.damaged(.content(record.line.id))) {
                    _ = try forged.opened(with: key)
                }
            }
        }
    }

    @Test("the device in a manifest decodes unchanged, and other bytes are refused")
    func manifest() throws {
        let binding = RecordBinding(
            device: DeviceID([UInt8](0..<16).span), binding: .agent, name: "Jörgs Rechner",
            state: .max)
        func read(_ bytes: [UInt8]) throws(FieldReader.Unreadable) -> ListedSecret {
            var fields = FieldReader(.bigEndian)
            let read = try ListedSecret(reading: &fields, in: bytes.span)
            try fields.finish(bytes.span)
            return read
        }
        func bytes(_ binding: RecordBinding?) -> [UInt8] {
            let listed = ListedSecret.sealed(
                digest: [UInt8](repeating: 1, count: 32),
                fingerprint: [UInt8](repeating: 2, count: 16), binding: binding)
            return SecretBytes(capacity: 512) { listed.write(to: &$0) }.copied
        }
        let written = bytes(binding)
        guard case .sealed(_, _, let found) = try read(written) else { return }
        #expect(found == binding && written[0] == 3)
        #expect(bytes(nil)[0] == 1 && bytes(nil).count == 49)
        for count in 0..<written.count {
            #expect(throws: FieldReader.Unreadable()) { _ = try read(Array(written[..<count])) }
        }
        for (place, byte) in [(0, 4), (65, 0), (65, 4), (69, 0), (69, 65), (70, 0x0a)] {
            var other = written
            other[place] = UInt8(byte)
            #expect(throws: FieldReader.Unreadable(), "\(place) \(byte)") { _ = try read(other) }
        }
    }

    @Test("without the device's key, nothing in the file confirms a guess at a secret")
    func fingerprint() throws {
        let bound = try BoundVault()
        let opened = try Opened(bound)
        for record in opened.state.records {
            let payload = try record.opened(with: opened.key)
            let listed = record.listed.fingerprint
            #expect(try opened.key.fingerprint(of: payload) != listed)
            #expect(opened.device.fingerprint(of: payload, in: opened.key.vaultID) == listed)
            #expect(opened.device.fingerprint(of: payload, in: [1]) != listed)
        }
        let guess = try TestVault.contents()[2]
        func found(_ vault: UnlockedVault) throws -> [RecordID] {
            try vault.rehearse { changes throws(VaultError) in
                try changes.entries(withSecretOf: guess)
            }
        }
        #expect(try found(bound.elsewhere()) == [])
        #expect(try found(bound.home()) == [bound.ids[2]])
    }
}
