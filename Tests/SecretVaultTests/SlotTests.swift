import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

struct SlotTests {
    @Test("a vault with a recovery key opens with the passphrase or the recovery key")
    func either() throws {
        let vault = try TestVault(recoveryKey: true)
        let ids = try vault.fill()
        let key = try #require(vault.recoveryKey)
        let open = try Vault.unlock(at: vault.path, with: .recoveryKey(key))
        #expect(open.openedSlot == 2)
        #expect(open.slots.map(\.method) == [.passphrase(logN: 10), .recoveryKey])
        #expect(open.slots.map(\.created) == [TestVault.now, TestVault.now])
        #expect(Facts(try open.open(ids[0])) == Facts(try TestVault.contents()[0]))
        #expect(try vault.unlock().openedSlot == 1)
        #expect(try open.check().hasRecoveryKey)
        #expect(try !TestVault().unlock().check().hasRecoveryKey)
    }

    @Test("another vault's recovery key does not open the vault")
    func otherRecoveryKey() throws {
        let vault = try TestVault(recoveryKey: true)
        let other = try #require(try TestVault(recoveryKey: true).recoveryKey)
        #expect(throws: VaultError.wrongRecoveryKey) {
            try Vault.unlock(at: vault.path, with: .recoveryKey(other))
        }
    }

    @Test(
        "a new passphrase replaces the old one; if the vault's key is kept, no secret is resealed",
        arguments: [true, false])
    func changed(keepsKey: Bool) throws {
        let vault = try TestVault(recoveryKey: true)
        _ = try vault.fill()
        let boxes = try sealedLines(vault)
        let open = try vault.unlock()
        try open.update { changes throws(VaultError) in
            try changes.changePassphrase(
                of: try changes.slot(1), to: secret("new one"), cost: .lowest, now: 7,
                keepsKey: keepsKey)
        }
        #expect(throws: VaultError.wrongPassphrase) { try vault.unlock() }
        let new = try Vault.unlock(at: vault.path, with: .passphrase(secret("new one")))
        #expect(new.slots.map(\.created) == [7, TestVault.now])
        let left = Set(try sealedLines(vault)).intersection(boxes).count
        #expect(left == (keepsKey ? boxes.count : 0))
        #expect(try new.check().opened == 4)
        // The old passphrase would open the previous generation.
        #expect(try !vault.files().contains(TestVault.own("previous")))
    }

    @Test(
        "a new passphrase costs at least as much to guess as the old one, unless a cost is given",
        arguments: [(nil, 18), (14, 14)])
    func costKept(stated: Int?, expected: Int) throws {
        let vault = try TestVault()
        func change(_ open: UnlockedVault, to text: String, _ cost: ScryptCost?) throws {
            try open.update { changes throws(VaultError) in
                try changes.changePassphrase(
                    of: try changes.slot(1), to: secret(text), cost: cost, now: 7)
            }
        }
        func unlock(_ text: String) throws -> UnlockedVault {
            try Vault.unlock(at: vault.path, with: .passphrase(secret(text)))
        }
        try change(vault.unlock(), to: "first", ScryptCost(logN: 18))
        try change(unlock("first"), to: "second", stated.flatMap(ScryptCost.init(logN:)))
        let new = try unlock("second")
        guard case .passphrase(let logN)? = new.slots.first?.method else {
            Issue.record("no passphrase")
            return
        }
        #expect(logN == expected)
    }

    @Test(
        "removing a slot erases the file that it still opens, even if the vault keeps its key",
        arguments: [true, false])
    func removed(keepsKey: Bool) throws {
        let vault = try TestVault(recoveryKey: true)
        _ = try vault.fill()
        #expect(try vault.files().contains(TestVault.own("previous")))
        try vault.unlock().update { changes throws(VaultError) in
            try changes.removeSlot(changes.slot(2), keepsKey: keepsKey)
        }
        #expect(try !vault.files().contains(TestVault.own("previous")))
    }

    @Test("the recovery key lets the user replace a forgotten passphrase, and nothing is lost")
    func forgotten() throws {
        let vault = try TestVault(recoveryKey: true)
        let ids = try vault.fill()
        let open = try Vault.unlock(
            at: vault.path, with: .recoveryKey(try #require(vault.recoveryKey)))
        try open.update { changes throws(VaultError) in
            try changes.changePassphrase(
                of: try changes.slot(1), to: secret("remembered"), cost: .lowest, now: 7)
        }
        let new = try Vault.unlock(at: vault.path, with: .passphrase(secret("remembered")))
        #expect(new.entries.map(\.id) == ids)
        #expect(Facts(try new.open(ids[3])) == Facts(try TestVault.contents()[3]))
    }

    @Test("slots are added at the lowest free number, up to sixteen, and listed in order")
    func adding() throws {
        let vault = try TestVault(recoveryKey: true)
        let open = try vault.unlock()
        let third = try open.update { changes throws(VaultError) in
            try changes.addPassphrase(secret("second"), cost: .lowest, now: 0)
        }
        #expect(third == 3)
        try open.change { try $0.removeSlot($0.slot(2)) }
        let key = RecoveryKey.make()
        try open.change { try $0.addRecoveryKey(key, now: 0) }
        #expect(open.slots.map(\.number) == [1, 2, 3])
        #expect(
            open.slots.map(\.method)
                == [.passphrase(logN: 10), .recoveryKey, .passphrase(logN: 10)])
        #expect(try Vault.unlock(at: vault.path, with: .recoveryKey(key)).openedSlot == 2)
        let opened = try Vault.unlock(at: vault.path, with: .passphrase(secret("second")))
        #expect(opened.openedSlot == 3)
        try open.update { changes throws(VaultError) in
            for _ in 0..<13 { try changes.addRecoveryKey(.make(), now: 0) }
        }
        #expect(throws: VaultError.overLimit(.slots)) {
            try open.change { try $0.addRecoveryKey(.make(), now: 0) }
        }
        #expect(try vault.unlock().slots.count == 16)
    }

    @Test("a slot that has reused a number is not mistaken for the earlier slot")
    func numberGivenAgain() throws {
        let vault = try TestVault(recoveryKey: true)
        let seen = try vault.unlock().slots
        // Another process removes the recovery key, adds a passphrase, and changes the first one.
        try vault.unlock().update { changes throws(VaultError) in
            try changes.removeSlot(changes.slot(2))
            try changes.addPassphrase(secret("second"), cost: .lowest, now: TestVault.now)
            try changes.changePassphrase(
                of: try changes.slot(1), to: secret("first"), cost: .lowest,
                now: TestVault.now)
        }
        let before = try vault.bytes()
        let open = try Vault.unlock(at: vault.path, with: .passphrase(secret("second")))
        #expect(open.slots.map(\.number) == seen.map(\.number))
        for slot in seen {
            #expect(throws: VaultError.noSuchSlot) {
                try open.change { try $0.removeSlot(slot) }
            }
            #expect(throws: VaultError.noSuchSlot) {
                try open.update { changes throws(VaultError) in
                    try changes.changePassphrase(
                        of: slot, to: secret("x"), cost: .lowest, now: 0)
                }
            }
        }
        #expect(try vault.bytes() == before)
        let first = open.slots[0]
        try open.change { try $0.removeSlot(first) }
        #expect(open.slots.map(\.number) == [2])
    }

    @Test("the last slot that works on every device cannot be removed; one of two such slots can")
    func last() throws {
        let vault = try TestVault(recoveryKey: true)
        let open = try vault.unlock()
        try open.change { try $0.removeSlot($0.slot(1)) }
        #expect(throws: VaultError.wrongPassphrase) { try vault.unlock() }
        #expect(throws: VaultError.lastSlot) {
            try open.change { try $0.removeSlot($0.slot(2)) }
        }
        #expect(throws: VaultError.noSuchSlot) {
            try open.change { try $0.removeSlot($0.slot(1)) }
        }
    }

    @Test("a slot of a later version is kept, listed by its method, and not counted as portable")
    func laterSlot() throws {
        let vault = try TestVault()
        let sample = try VaultDocument(parsing: vault.bytes())
        let key = try sample.opened(with: .passphrase(TestVault.passphrase), ceiling: 24).key
        var state = try VaultState(verifying: sample, with: key)
        state.slots.append(try FutureSlot(number: 4).sealed(key))
        try vault.put(try state.written(with: key))
        let open = try vault.unlock()
        #expect(open.slots.map(\.method) == [.passphrase(logN: 10), .other("tpm2")])
        #expect(throws: VaultError.lastSlot) {
            try open.change { try $0.removeSlot($0.slot(1)) }
        }
        try open.update { changes throws(VaultError) in
            try changes.add(.plainSecret(issuer: "a", account: "", value: secret("x")), now: 0)
        }
        let text = String(decoding: try vault.bytes(), as: UTF8.self)
        #expect(
            text.contains(
                /\nslot 4 5 tpm2 [A-Za-z0-9+\/=]{44} pcr=7 c2VhbGVk [A-Za-z0-9+\/=]{124}\n/))
    }

    @Test(
        "a slot with a changed time, number, key, cost or salt, or from another vault, does not open"
    )
    func tamperedSlots() throws {
        let sample = try TamperingTests.Sample()
        let other = try TamperingTests.Sample()
        let words = sample.lines[3].split(separator: " ").map(String.init)
        let otherWords = other.lines[3].split(separator: " ").map(String.init)
        #expect(words[...3] == ["slot", "1", "1795000000", "passphrase"])
        #expect(words[5...7] == ["10", "8", "1"])
        func open(_ words: [String]) throws {
            let forged = try sample.forged { lines in lines[3] = words.joined(separator: " ") }
            let document = try VaultDocument(parsing: forged)
            _ = try document.opened(with: .passphrase(TestVault.passphrase), ceiling: 24)
        }
        #expect(throws: Never.self) { try open(words) }
        for (place, word) in [
            (2, "1795000001"), (4, otherWords[4]), (5, "11"), (8, otherWords[8]),
            (9, otherWords[9]),
        ] {
            var changed = words
            changed[place] = word
            #expect(throws: VaultError.wrongPassphrase, "word \(place + 1)") { try open(changed) }
        }
        // The passphrase is right, but the slot does not contain the vault's key.
        var changed = words
        changed[10] = otherWords[10]
        #expect(throws: VaultError.damaged(.slot(1))) { try open(changed) }
        #expect(throws: VaultError.wrongPassphrase) { try open(otherWords) }
        // The slot's number changes, and the next slot's number is adjusted to keep them ascending.
        let renumbered = try sample.forged { lines in
            lines[3] = lines[3].replacing("slot 1 ", with: "slot 2 ")
            lines[4] = lines[4].replacing("slot 2 ", with: "slot 3 ")
        }
        let document = try VaultDocument(parsing: renumbered)
        #expect(throws: VaultError.wrongPassphrase) {
            try document.opened(with: .passphrase(TestVault.passphrase), ceiling: 24)
        }
        let recoveryKey = try #require(sample.vault.recoveryKey)
        #expect(throws: VaultError.wrongRecoveryKey) {
            try document.opened(with: .recoveryKey(recoveryKey), ceiling: 24)
        }
    }

    private func sealedLines(_ vault: TestVault) throws -> [Substring] {
        String(decoding: try vault.bytes(), as: UTF8.self).split(separator: "\n").filter {
            $0.hasPrefix("sealed ")
        }
    }
}

extension VaultChanges {
    /// The slot that has this number at present.
    fileprivate func slot(_ number: Int) throws(VaultError) -> SlotSummary {
        guard let slot = slots.first(where: { $0.number == number }) else { throw .noSuchSlot }
        return slot
    }
}

struct RecoveryKeyTests {
    @Test("a recovery key is read back in upper or lower case, with any spaces and dashes")
    func reading() throws {
        let vault = try TestVault(recoveryKey: true)
        let key = try #require(vault.recoveryKey)
        let text = String(decoding: key.text().copied, as: UTF8.self)
        #expect(text.wholeMatch(of: /([A-Z2-7]{4}-){13}[A-Z2-7]{4}/) != nil)
        for typed in [
            text, text.lowercased(), text.replacing("-", with: " "),
            text.replacing("-", with: ""), " \(text)\n",
        ] {
            let read = try RecoveryKey(parsing: secret(typed))
            #expect(read.secret == key.secret)
        }
    }

    @Test("any single wrong character is detected, as are two swapped characters")
    func mistyping() throws {
        let vault = try TestVault(recoveryKey: true)
        let text = try #require(vault.recoveryKey).text().copied
        for index in text.indices where text[index] != UInt8(ascii: "-") {
            var typed = text
            typed[index] = typed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(throws: VaultError.recoveryKeyMistyped) {
                try RecoveryKey(parsing: SecretBytes(copying: typed.span))
            }
            guard index + 1 < text.count, text[index] != text[index + 1],
                text[index + 1] != UInt8(ascii: "-")
            else { continue }
            var swapped = text
            swapped.swapAt(index, index + 1)
            #expect(throws: VaultError.recoveryKeyMistyped) {
                try RecoveryKey(parsing: SecretBytes(copying: swapped.span))
            }
        }
    }

    @Test("a recovery key of the wrong length or with an invalid character causes a specific error")
    func others() throws {
        let vault = try TestVault(recoveryKey: true)
        let text = String(decoding: try #require(vault.recoveryKey).text().copied, as: UTF8.self)
        let cases: [(String, VaultError)] = [
            ("", .recoveryKeyLength(0, expected: 56)),
            (String(text.dropLast()), .recoveryKeyLength(55, expected: 56)),
            (text + "A", .recoveryKeyLength(57, expected: 56)),
            ("1" + text.dropFirst(), .recoveryKeyCharacter),
            ("é" + text.dropFirst(2), .recoveryKeyCharacter),
        ]
        for (typed, error) in cases {
            #expect(throws: error) { try RecoveryKey(parsing: secret(typed)) }
        }
    }
}
