import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

/// Tests of which files older files and passphrases can open after a rekey.
struct RekeyTests {
    /// A copy of the vault, with a passphrase that opens it.
    private struct Copy {
        let document: VaultDocument
        let key: VaultKey

        init(of vault: TestVault) throws {
            document = try VaultDocument(parsing: vault.bytes())
            key = try document.opened(with: .passphrase(TestVault.passphrase), ceiling: 10).key
        }

        /// The number of secrets in the file that the copy's key opens.
        func opened(in vault: TestVault) throws -> Int {
            let document = try VaultDocument(parsing: vault.bytes())
            var opened = 0
            for (line, body) in zip(document.records, document.bodies) {
                guard case .sealed(let text) = body else { continue }
                let box = try Base64.decode(text.span)
                do throws(VaultError) {
                    _ = try SealedBox.open(
                        box, under: key.derived(for: .record, of: line.id),
                        associatedData: VaultLines.vault(key.vaultID) + line.text,
                        or: .wrongPassphrase)
                    opened += 1
                } catch .wrongPassphrase {}
            }
            return opened
        }

        /// Whether the file has the same key as the copy.
        func isKey(of vault: TestVault) throws -> Bool {
            do throws(VaultError) {
                _ = try VaultState(verifying: VaultDocument(parsing: vault.read()), with: key)
                return true
            } catch {
                return false
            }
        }
    }

    private let new = secret("a new passphrase")

    private func change(
        _ vault: TestVault, from old: SecretBytes = TestVault.passphrase, to new: SecretBytes,
        keepsKey: Bool = false
    ) throws {
        let cost = ScryptCost.lowest
        try Vault.unlock(at: vault.path, with: .passphrase(old)).update {
            changes throws(VaultError) in
            try changes.changePassphrase(
                of: changes.slots[0], to: new, cost: cost, now: 7, keepsKey: keepsKey)
        }
    }

    private func add(_ vault: UnlockedVault) throws {
        try vault.update { changes throws(VaultError) in
            try changes.add(
                .plainSecret(issuer: "later", account: "", value: secret("later")), now: 0)
        }
    }

    @Test(
        "O-13 an old copy and the old passphrase do not open anything saved under a new passphrase")
    func newPassphrase() throws {
        let vault = try TestVault(recoveryKey: true)
        _ = try vault.fill()
        let copy = try Copy(of: vault)
        #expect(try copy.opened(in: vault) == 4)
        try change(vault, to: new)
        try add(try Vault.unlock(at: vault.path, with: .passphrase(new)))
        #expect(try copy.opened(in: vault) == 0)
        #expect(try !copy.isKey(of: vault))
        #expect(throws: VaultError.wrongPassphrase) { try vault.unlock() }
        // The old slot's line in the new file yields only the old key.
        let document = try VaultDocument(parsing: vault.bytes())
        for slot in copy.document.slots {
            for place in document.slots.indices {
                var slots = document.slots
                slots[place] = slot
                let spliced = SplicedSlots(document, slots)
                let found = spliced.key(with: .passphrase(TestVault.passphrase))
                #expect(try found.map { try $0.isEqual(to: copy.key) } ?? true)
            }
        }
    }

    @Test(
        "O-13 if the key is kept, an old copy and the old passphrase open later entries"
    )
    func keptKey() throws {
        let vault = try TestVault(recoveryKey: true)
        _ = try vault.fill()
        let copy = try Copy(of: vault)
        try change(vault, to: new, keepsKey: true)
        try add(try Vault.unlock(at: vault.path, with: .passphrase(new)))
        #expect(try copy.isKey(of: vault))
        #expect(try copy.opened(in: vault) == 5)
    }

    @Test("O-13 an old copy and a removed slot's secret do not open anything added later")
    func removedSlot() throws {
        let vault = try TestVault(recoveryKey: true)
        let recoveryKey = try #require(vault.recoveryKey)
        let old = try VaultDocument(parsing: vault.bytes())
        let oldKey = try old.opened(with: .recoveryKey(recoveryKey), ceiling: 10).key
        let open = try vault.unlock()
        try open.change { try $0.removeSlot($0.slots[1]) }
        try add(open)
        let document = try VaultDocument(parsing: vault.bytes())
        #expect(throws: VaultError.damaged(.header)) {
            try VaultState(verifying: document, with: oldKey)
        }
        #expect(throws: VaultError.wrongRecoveryKey) {
            try Vault.unlock(at: vault.path, with: .recoveryKey(recoveryKey))
        }
        #expect(try vault.unlock().entries.map(\.issuer) == ["later"])
    }

    @Test("every slot opens the vault and each entry after a rekey, and nothing else changes")
    func otherSlots() throws {
        let vault = try TestVault(recoveryKey: true)
        let second = secret("second passphrase")
        let cost = ScryptCost.lowest
        try vault.unlock().change { try $0.addPassphrase(second, cost: cost, now: 3) }
        let later = try FutureSlot(number: 9)
        try later.add(to: vault)
        let ids = try vault.fill()
        let before = try vault.unlock()
        let revisions = try VaultDocument(parsing: vault.bytes()).records
        try before.change { try $0.rekey() }
        #expect(before.slots.map(\.number) == [1, 2, 3, 9])
        let recoveryKey = try #require(vault.recoveryKey)
        for opener in [
            VaultOpener.passphrase(TestVault.passphrase), .passphrase(second),
            .recoveryKey(recoveryKey),
        ] {
            let open = try Vault.unlock(at: vault.path, with: opener)
            #expect(open.slots == before.slots)
            #expect(open.entries.map(\.id) == ids)
            for (id, content) in zip(ids, try TestVault.contents()) {
                #expect(Facts(try open.open(id)) == Facts(content))
            }
            #expect(try open.check().damages.isEmpty)
        }
        let document = try VaultDocument(parsing: vault.bytes())
        // The slot of a later version also contains the new key.
        #expect(try later.key(of: document).isEqual(to: before.key))
        // Revisions and the failures counted against entries do not change.
        #expect(document.records == revisions)
        #expect(try !vault.files().contains(TestVault.own("previous")))
    }

    @Test("a wiped entry stays wiped after a rekey")
    func wiped() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        try vault.unlock().change { try $0.wipe(ids[1], because: .failures, now: TestVault.now) }
        try vault.unlock().change { try $0.rekey() }
        let open = try vault.unlock()
        #expect(open.entries.map { $0.tombstone != nil } == [false, true, false, false])
        #expect(throws: VaultError.wiped) { try open.open(ids[1]) }
        #expect(try open.check().opened == 3)
    }

    @Test("a process that has the vault open during a rekey gets an error and cannot change it")
    func meanwhile() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let open = try vault.unlock()
        try vault.unlock().change { try $0.rekey() }
        let bytes = try vault.bytes()
        #expect(throws: VaultError.rekeyed) { try add(open) }
        #expect(try vault.bytes() == bytes)
        // The list of entries that was read before is still available.
        #expect(Facts(try open.open(ids[0])) == Facts(try TestVault.contents()[0]))
        #expect(throws: OpenerCheck.Failure(reason: .rekeyed, mayConcealAttempt: false)) {
            try open.isOpened(by: .passphrase(TestVault.passphrase))
        }
    }

    @Test("a forged vault that is sealed to the slots' public keys does not open")
    func forged() throws {
        let vault = try TestVault(recoveryKey: true)
        _ = try vault.fill()
        let document = try VaultDocument(parsing: vault.bytes())
        // An attacker who can write the file, but has no key to it, generates a vault key.
        let made = VaultKey.make(of: document.vaultID)
        let guessed = try SlotSecret.make().authenticationKey
        let slots = try document.slots.map {
            try TrustedSlot(slot: $0, authenticationKey: guessed).holding(made)
        }
        try vault.put(try VaultState(new: document.vaultID, slots: slots).written(with: made))
        #expect(throws: VaultError.damaged(.slot(1))) { try vault.unlock() }
        let recoveryKey = try #require(vault.recoveryKey)
        #expect(throws: VaultError.damaged(.slot(2))) {
            try Vault.unlock(at: vault.path, with: .recoveryKey(recoveryKey))
        }
        // The passphrase was right, so nothing is counted.
        #expect(try vault.attempts().isEmpty)
    }

    @Test(
        "the slot of a changed passphrase gets a new key pair, whether or not the vault's key is kept"
    )
    func ownPair() throws {
        let vault = try TestVault()
        let old = try VaultDocument(parsing: vault.bytes())
        try change(vault, to: new)
        let changed = try VaultDocument(parsing: vault.bytes())
        #expect(old.slots[0].head.publicKey != changed.slots[0].head.publicKey)
        try change(vault, from: new, to: secret("third"), keepsKey: true)
        let kept = try VaultDocument(parsing: vault.bytes())
        #expect(kept.slots[0].head.publicKey != changed.slots[0].head.publicKey)
    }
}

extension TestVault {
    /// Reads the file, for closures that throw only the vault's errors.
    fileprivate func read() throws(VaultError) -> [UInt8] {
        do { return try bytes() } catch { throw .notFound }
    }
}

/// A file with slot lines from several files.
private struct SplicedSlots {
    private let bytes: [UInt8]

    init(_ document: VaultDocument, _ slots: [Slot]) {
        var text = VaultText()
        text.write(VaultEnvelope.firstLine(2))
        text.write(VaultLines.vault(document.vaultID))
        text.write("generation \(document.generation)\n")
        for slot in slots.sorted(by: { $0.number < $1.number }) { slot.write(to: &text) }
        let lines = String(decoding: document.bytes, as: UTF8.self).split(separator: "\n")
        for line in lines.drop(while: { !$0.hasPrefix("record ") }).dropLast() {
            text.write("\(line)\n")
        }
        bytes = text.bytes
    }

    func key(with opener: VaultOpener) -> VaultKey? {
        do throws(VaultError) {
            let file = bytes + VaultEnvelope.lastLine(for: bytes[...])
            return try VaultDocument(parsing: file).opened(with: opener, ceiling: 10).key
        } catch {
            return nil
        }
    }
}
