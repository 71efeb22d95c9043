import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import SecretVault

/// Limits on the cost of opening a file.
struct UnlockCostTests {
    private func slot(_ number: Int, _ logN: Int) -> Slot {
        Slot(
            head: SlotHead(
                number: number, created: 0, method: .passphrase(logN: logN, salt: []),
                publicKey: []),
            secret: [], vaultKey: [])
    }

    private func plan(_ costs: [Int], ceiling: Int = Vault.defaultCeiling) -> UnlockPlan {
        UnlockPlan(
            of: costs.enumerated().map { slot($0 + 1, $1) }, for: .passphrase(secret("any")),
            ceiling: ceiling)
    }

    @Test("O-15 slots are tried in order of cost while the total cost is within the ceiling")
    func plans() {
        let hostile = [Int](repeating: 20, count: 15)
        let cases: [(costs: [Int], tried: [Int], refusal: VaultError?)] = [
            ([17], [1], nil), ([20], [1], nil),
            ([21], [], .costOverCeiling(logN: 21, ceiling: 20)),
            ([17, 24], [1], .costOverCeiling(logN: 25, ceiling: 20)),
            ([24, 17], [2], .costOverCeiling(logN: 25, ceiling: 20)),
            (hostile + [17], [16], .costOverCeiling(logN: 24, ceiling: 20)),
            ([Int](repeating: 17, count: 8), Array(1...8), nil),
            (
                [Int](repeating: 17, count: 9), Array(1...8),
                .costOverCeiling(logN: 21, ceiling: 20)
            ),
            ([19, 18, 17, 16, 10], [5, 4, 3, 2, 1], nil),
            ([63, 10], [2], .costOverCeiling(logN: 64, ceiling: 20)),
            ([63, 63, 63], [], .costOverCeiling(logN: 64, ceiling: 20)),
        ]
        for (costs, tried, refusal) in cases {
            let plan = plan(costs)
            #expect(plan.slots.map(\.number) == tried, "\(costs)")
            #expect(plan.refusal == refusal, "\(costs)")
            let total = plan.slots.reduce(0) { $0 + 1 << costs[$1.number - 1] }
            #expect(total <= 1 << 20)
        }
    }

    @Test("O-15 slots within the caller's ceiling are tried, but none over 2^24")
    func allowed() {
        #expect(plan([21], ceiling: 21).slots.count == 1)
        #expect(plan([10, 10], ceiling: 10).slots.count == 1)
        #expect(plan([25], ceiling: 28).refusal == .costOverCeiling(logN: 25, ceiling: 28))
        #expect(plan([10], ceiling: 9).refusal == .costOverCeiling(logN: 10, ceiling: 9))
    }

    @Test("O-15 a slot that needs more memory than is available is not tried")
    func memory() throws {
        let needed = try #require(ScryptCost(logN: 24)).memoryNeeded
        let limit = SystemMemory.limit()
        try #require(limit > 0)
        let plan = plan([24], ceiling: 24)
        if needed > limit {
            #expect(plan.refusal == .notEnoughMemory(needed: needed, limit: limit))
        } else {
            #expect(plan.slots.count == 1)
        }
    }

    @Test(
        "O-15 slots added by an attacker are tried after a cheaper one, and only some are tried"
    )
    func hostileSlots() throws {
        let vault = try TestVault()
        let document = try VaultDocument(parsing: vault.bytes())
        var text = VaultText()
        text.write(VaultEnvelope.firstLine(2))
        text.write(VaultLines.vault(document.vaultID))
        text.write("generation 1\n")
        let dear = try TestVault(logN: 14)
        let added = try VaultDocument(parsing: dear.bytes()).slots[0]
        document.slots[0].write(to: &text)
        for number in 2...16 {
            let head = SlotHead(
                number: number, created: 0, method: added.method,
                publicKey: added.head.publicKey)
            Slot(head: head, secret: added.secret, vaultKey: added.vaultKey).write(to: &text)
        }
        text.write("mac ")
        text.writeBase64(document.mac)
        text.write("\nmanifest ")
        text.writeBase64(document.manifest)
        text.write("\nchanges 0\n")
        text.write(VaultEnvelope.lastLine(for: text.bytes[...]))
        try vault.put(text.bytes)
        // The right passphrase opens its slot, which is the cheapest, but then the header does not
        // match.
        let right = VaultOpener.passphrase(TestVault.passphrase)
        #expect(throws: VaultError.damaged(.header)) {
            try Vault.unlock(at: vault.path, with: right, ceiling: 14)
        }
        #expect(throws: VaultError.costOverCeiling(logN: 18, ceiling: 14)) {
            try Vault.unlock(at: vault.path, with: .passphrase(secret("wrong")), ceiling: 14)
        }
        #expect(try vault.attempts().vault?.count == 1)
    }

    /// A vault with slots of 2^10 and 2^11, the latter opened by "dear", whose entry is per-use.
    private func made(onFailure: AccessControl.OnFailure) throws -> (TestVault, RecordID) {
        let vault = try TestVault()
        let id = try vault.fill()[0]
        let cost = try #require(ScryptCost(logN: 11))
        try vault.unlock().update { changes throws(VaultError) in
            try changes.addPassphrase(secret("dear"), cost: cost, now: 0)
            try changes.setAccessControl(
                of: id, to: AccessControl(presence: .perUse(.any), onFailure: onFailure))
        }
        return (vault, id)
    }

    @Test("O-11 O-15 a passphrase that was not tried on every slot causes a wait, but no wipe")
    func undecided() throws {
        let (vault, id) = try made(onFailure: .wipe(after: try #require(FailureCount(1))))
        let box = try vault.box(of: id)
        let clock = TestClock()
        func unlock(_ passphrase: String, ceiling: Int) throws -> UnlockedVault {
            try Vault.unlock(
                at: vault.path, with: .passphrase(secret(passphrase)), ceiling: ceiling,
                reading: clock.reading)
        }
        for count in 1..<LockOutPolicy.firstFailureWithWait {
            #expect(throws: VaultError.costOverCeiling(logN: 12, ceiling: 10)) {
                try unlock("dear", ceiling: 10)
            }
            let counted = try #require(try vault.attempts().vault)
            #expect(counted.refused == 0 && counted.undecided == count)
        }
        #expect(try !vault.holders(of: box).isEmpty)
        #expect(try unlock("dear", ceiling: 20).reports.isEmpty)
        #expect(try vault.attempts().isEmpty)
        for _ in 0..<LockOutPolicy.failuresUntilWait {
            #expect(throws: VaultError.self) { try unlock("dear", ceiling: 10) }
        }
        #expect(throws: VaultError.lockedOut(seconds: LockOutPolicy.firstWait)) {
            try unlock("dear", ceiling: 20)
        }
        #expect(try !vault.holders(of: box).isEmpty)
    }

    @Test("O-15 a passphrase that every slot refused counts as wrong, and can cause a wipe")
    func refused() throws {
        let (vault, id) = try made(onFailure: .wipe(after: try #require(FailureCount(1))))
        let box = try vault.box(of: id)
        let wrong = VaultOpener.passphrase(secret("wrong"))
        #expect(throws: VaultError.wrongPassphrase) {
            try Vault.unlock(at: vault.path, with: wrong, ceiling: 12)
        }
        #expect(try vault.attempts().vault?.refused == 1)
        #expect(try vault.holders(of: box) == [])
    }

    /// The result of a passphrase check for one use of the entry.
    private func asked(_ passphrase: String, of vault: UnlockedVault, _ id: RecordID) -> String {
        var check = OpenerCheck(.passphrase(secret(passphrase)), of: vault)
        do {
            let proof = try vault.proof(
                &check, for: id, reading: TestClock().reading)
            return try vault.open(id, proof: proof).issuer
        } catch let error as NoProof<OpenerCheck.Failure> {
            return "\(error)"
        } catch {
            return "\(error)"
        }
    }

    @Test("O-15 a guess in an entry's passphrase check is counted, even if a slot was not tried")
    func undecidedAtUse() throws {
        typealias Refusal = NoProof<OpenerCheck.Failure>
        let (vault, id) = try made(onFailure: .wipe(after: try #require(FailureCount(1))))
        let open = try Vault.unlock(
            at: vault.path, with: .passphrase(TestVault.passphrase), ceiling: 10)
        let sly = Refusal.check(
            OpenerCheck.Failure(
                reason: .costOverCeiling(logN: 12, ceiling: 10), mayConcealAttempt: true))
        for count in 1...LockOutPolicy.firstFailureWithWait {
            #expect(asked("wrong", of: open, id) == "\(sly)")
            let counted = try vault.attempts().records[id]?.failures
            #expect(counted?.refused == 0 && counted?.undecided == count)
        }
        let right = String(decoding: TestVault.passphrase.copied, as: UTF8.self)
        let locked = Refusal.vault(.lockedOut(seconds: LockOutPolicy.firstWait))
        #expect(asked(right, of: open, id) == "\(locked)")
        #expect(try !vault.holders(of: vault.box(of: id)).isEmpty)
    }

    @Test("O-15 a passphrase that was tried on no slot is not counted in an entry's check")
    func notTriedAtUse() throws {
        typealias Refusal = NoProof<OpenerCheck.Failure>
        let vault = try TestVault(recoveryKey: true)
        let id = try vault.fill()[0]
        try vault.unlock().update { changes throws(VaultError) in
            try changes.setAccessControl(
                of: id, to: AccessControl(presence: .perUse(.any), onFailure: .lockOut))
        }
        let key = try #require(vault.recoveryKey)
        let open = try Vault.unlock(at: vault.path, with: .recoveryKey(key), ceiling: 9)
        let deaf = Refusal.check(
            OpenerCheck.Failure(
                reason: .costOverCeiling(logN: 10, ceiling: 9), mayConcealAttempt: false))
        for _ in 0..<7 { #expect(asked("wrong", of: open, id) == "\(deaf)") }
        #expect(try vault.attempts().isEmpty)
    }
}
