import Devices
import Testing
import WatchwordCryptography

@testable import SecretVault

/// Slots that open with a TPM or an authenticator.
struct DeviceSlotTests {
    @Test("the device's secret opens its slot, and the slot's properties are kept")
    func opens() throws {
        let vault = try DeviceSlots.vault()
        let slots = try Vault.slots(at: vault.path)
        #expect(
            slots.map(\.method) == [
                .passphrase(logN: 10), .recoveryKey, .tpm2(DeviceSlots.object()),
                .tpm2(DeviceSlots.object(pin: false, pcr7: true)),
                .fido2(DeviceSlots.credential()), .fido2(DeviceSlots.credential(pin: false)),
            ])
        let stored = try VaultDocument(parsing: vault.bytes()).slots
        #expect(stored.map(\.isPortable) == [true, true, false, false, false, false])
        for slot in slots.dropFirst(2) {
            let open = try vault.unlock(by: slot)
            #expect(open.openedSlot == slot.number && open.entries.count == 1)
            #expect(open.slots == slots)
        }
    }

    @Test("a wrong secret, or a slot that is not in the file, opens nothing and is not counted")
    func refused() throws {
        let vault = try DeviceSlots.vault()
        let slots = try Vault.slots(at: vault.path)
        let wrong = SecretBytes(copying: [UInt8](repeating: 0x5f, count: 32).span)
        let otherVault = try DeviceSlots.vault()
        let other = try #require(try Vault.slots(at: otherVault.path).last)
        for _ in 0..<6 {
            #expect(throws: VaultError.wrongDevice) {
                try vault.unlock(by: slots[2], secret: wrong)
            }
            #expect(throws: VaultError.wrongDevice) {
                try vault.unlock(by: slots[4], secret: wrong)
            }
            #expect(throws: VaultError.wrongDevice) { try vault.unlock(by: other) }
            // A device's secret does not open a slot with a different method.
            #expect(throws: VaultError.wrongDevice) { try vault.unlock(by: slots[0]) }
        }
        #expect(try vault.attempts().isEmpty)
    }

    /// Changes the file as an attacker would: with a recomputed last line.
    private func forge(_ old: String, _ new: String, in vault: TestVault) throws {
        var text = String(decoding: try vault.bytes(), as: UTF8.self)
        text.replaceSubrange(try #require(text.firstRange(of: old)), with: new)
        let body = Array(text.utf8).dropLast(VaultEnvelope.lastLineCount)
        try vault.put(body + VaultEnvelope.lastLine(for: body))
    }

    @Test(
        "a slot with a changed field does not open",
        arguments: [
            (" pin no-pcr ", " no-pin no-pcr "), (" pin no-pcr ", " pin pcr7 "),
            (" AAIBAg== ", " AAIBAw== "), (" AAMHCAk= ", " AAMHCAo= "),
            (" pin watchword.vault ", " no-pin watchword.vault "),
            (" pin watchword.vault ", " pin watchword.other "), (" BAUG ", " BAUH "),
        ])
    func tampered(old: String, new: String) throws {
        let vault = try DeviceSlots.vault()
        try forge(old, new, in: vault)
        let changed = try Vault.slots(at: vault.path)[
            old.contains("w") || old.contains("BAU") ? 4 : 2]
        #expect(throws: VaultError.wrongDevice) { try vault.unlock(by: changed) }
    }

    @Test(
        "a malformed slot of a device counts as damage",
        arguments: [
            (" pin no-pcr ", " PIN no-pcr "), (" pin no-pcr ", " pin "),
            (" AAIBAg== ", " AAIBAg= "), (" AAIBAg== ", " - "),
            (" pin watchword.vault ", " pin watchword vault "), (" BAUG ", " BAU "),
        ])
    func malformed(old: String, new: String) throws {
        let vault = try DeviceSlots.vault()
        try forge(old, new, in: vault)
        let line = old.contains("w") || old.contains("BAU") ? 8 : 6
        #expect(throws: VaultError.damaged(.line(line))) { try Vault.slots(at: vault.path) }
    }

    @Test("the last slot that needs no device cannot be removed; the others can")
    func lastPortable() throws {
        let vault = try DeviceSlots.vault()
        let slots = try Vault.slots(at: vault.path)
        try vault.unlock().change { try $0.removeSlot(slots[0]) }
        let open = try vault.unlock(by: slots[2])
        #expect(throws: VaultError.lastSlot) {
            try open.change { try $0.removeSlot(slots[1]) }
        }
        // The recovery key still opens the vault, and the passphrase no longer does.
        let key = try #require(vault.recoveryKey)
        #expect(try Vault.unlock(at: vault.path, with: .recoveryKey(key)).slots.count == 5)
        #expect(throws: VaultError.wrongPassphrase) { try vault.unlock() }
        #expect(try vault.attempts().isEmpty)
        try open.change { try $0.removeSlot(slots[3]) }
        #expect(try vault.unlock(by: slots[2]).slots.count == 4)
    }

    @Test("a passphrase can be removed only while a recovery key exists")
    func needsRecoveryKey() throws {
        let vault = try TestVault()
        try vault.unlock().update { changes throws(VaultError) in
            try changes.addTPM(DeviceSlots.object(), sealing: DeviceSlots.secret, now: 1)
        }
        let slot = try #require(try Vault.slots(at: vault.path).first)
        #expect(throws: VaultError.lastSlot) {
            try vault.unlock().change { try $0.removeSlot(slot) }
        }
        #expect(try vault.unlock().slots.count == 2)
    }

    @Test("a new vault key is sealed to the devices, too")
    func rekey() throws {
        let vault = try DeviceSlots.vault()
        let old = try vault.bytes()
        try vault.unlock().change { try $0.rekey() }
        #expect(try vault.bytes() != old)
        for slot in try Vault.slots(at: vault.path).dropFirst(2) {
            #expect(try vault.unlock(by: slot).entries.count == 1)
        }
    }

    @Test("a device opens the vault during a wait, and ends it")
    func lockOut() throws {
        let vault = try DeviceSlots.vault()
        let wrong = SecretBytes(copying: Array("wrong".utf8).span)
        for _ in 0..<LockOutPolicy.failuresUntilWait {
            #expect(throws: VaultError.wrongPassphrase) {
                try Vault.unlock(at: vault.path, with: .passphrase(wrong))
            }
        }
        #expect(throws: VaultError.self) { try vault.unlock() }
        // A TPM without a PIN opens the vault, too, but does not end the wait.
        let slots = try Vault.slots(at: vault.path)
        let attempts = try vault.attempts()
        #expect(try vault.unlock(by: slots[3]).entries.count == 1)
        #expect(try vault.attempts() == attempts)
        let slot = slots[5]
        #expect(try vault.unlock(by: slot).entries.count == 1)
        #expect(try vault.attempts().isEmpty)
        #expect(try vault.unlock().entries.count == 1)
    }

    @Test("unlocking proves presence, except with a TPM without a PIN")
    func presence() throws {
        let vault = try DeviceSlots.vault()
        let id = try #require(try vault.unlock().entries.first).id
        try vault.unlock().update { changes throws(VaultError) in
            try changes.setAccessControl(
                of: id, to: AccessControl(presence: .perUse(.any), onFailure: .lockOut))
        }
        let slots = try Vault.slots(at: vault.path)
        for slot in [slots[2], slots[4], slots[5]] {
            let open = try vault.unlock(by: slot)
            #expect(open.unlockingProvesPresence)
            _ = try open.proofOfUnlocking(for: id)
        }
        let open = try vault.unlock(by: slots[3])
        #expect(!open.unlockingProvesPresence)
        #expect(throws: VaultError.presenceNeeded) { _ = try open.proofOfUnlocking(for: id) }
    }

    private enum SlotEdit: CaseIterable {
        case passphrase, recoveryKey, tpm, authenticator, change, removal

        func apply(to changes: inout VaultChanges) throws(VaultError) {
            let secret = DeviceSlots.secret
            switch self {
            case .passphrase: try changes.addPassphrase(secret, cost: .lowest, now: 1)
            case .recoveryKey: try changes.addRecoveryKey(.make(), now: 1)
            case .tpm: try changes.addTPM(DeviceSlots.object(), sealing: secret, now: 1)
            case .authenticator:
                try changes.addAuthenticator(DeviceSlots.credential(), secret: secret, now: 1)
            case .change:
                let slot = changes.slots[0]
                try changes.changePassphrase(of: slot, to: secret, cost: .lowest, now: 1)
            case .removal: try changes.removeSlot(changes.slots[1])
            }
        }
    }

    @Test("a vault opened by a TPM without a PIN cannot change its slots; other slots permit it")
    func changes() throws {
        let vault = try DeviceSlots.vault()
        let slots = try Vault.slots(at: vault.path)
        let bytes = try vault.bytes()
        for edit in SlotEdit.allCases {
            #expect(throws: VaultError.presenceNeeded, "\(edit)") {
                try vault.unlock(by: slots[3]).update { changes throws(VaultError) in
                    try edit.apply(to: &changes)
                }
            }
            #expect(throws: Never.self, "\(edit)") {
                try vault.unlock(by: slots[2]).rehearse { changes throws(VaultError) in
                    try edit.apply(to: &changes)
                }
            }
        }
        #expect(try vault.bytes() == bytes)
    }

    @Test("a device's secret passes the check for a use, and a wrong secret does not")
    func confirms() throws {
        let vault = try DeviceSlots.vault()
        let open = try vault.unlock()
        let id = try #require(open.entries.first).id
        let slot = open.slots[4]
        var check = OpenerCheck(.device(DeviceSlots.secret, of: slot), of: open)
        let proof = try open.proof(&check, for: id)
        _ = try open.open(id, proof: proof)
        // A TPM without a PIN does not prove presence, even with the right secret.
        var absent = OpenerCheck(.device(DeviceSlots.secret, of: open.slots[3]), of: open)
        #expect(throws: (any Error).self) {
            _ = try open.proof(&absent, for: id)
        }
        let wrong = SecretBytes(copying: [UInt8](repeating: 1, count: 32).span)
        var bad = OpenerCheck(.device(wrong, of: slot), of: open)
        #expect(throws: (any Error).self) {
            _ = try open.proof(&bad, for: id)
        }
    }
}
