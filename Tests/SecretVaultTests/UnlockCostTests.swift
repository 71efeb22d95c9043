import Cryptography
import POSIX
import TestSupport
import Testing

@testable import SecretVault

/// What a file may ask of whoever opens it.
struct UnlockCostTests {
    private func slot(_ number: Int, _ logN: Int) -> Slot {
        Slot(
            head: SlotHead(
                number: number, created: 0, method: .passphrase(logN: logN, salt: []),
                publicKey: []),
            secret: [], vaultKey: [])
    }

    private func plan(_ costs: [Int], ceiling: Int = Vault.standardCeiling) -> UnlockPlan {
        UnlockPlan(
            of: costs.enumerated().map { slot($0 + 1, $1) }, for: .passphrase(secret("any")),
            ceiling: ceiling)
    }

    @Test("O-15 slots are tried from the cheapest on, and never more than the ceiling in all")
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

    @Test("O-15 what the caller allows is tried, and nobody pays more than 2^24 for a slot")
    func allowed() {
        #expect(plan([21], ceiling: 21).slots.count == 1)
        #expect(plan([10, 10], ceiling: 10).slots.count == 1)
        #expect(plan([25], ceiling: 28).refusal == .costOverCeiling(logN: 25, ceiling: 28))
        #expect(plan([10], ceiling: 9).refusal == .costOverCeiling(logN: 10, ceiling: 9))
    }

    @Test("O-15 a slot that needs more memory than there is is not begun")
    func memory() throws {
        let needed = try ScryptCost(logN: 24).memoryNeeded
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
        "O-15 slots that somebody adds come after the cheaper one that was there, and are not all paid"
    )
    func hostileSlots() throws {
        let vault = try TestVault()
        let document = try VaultDocument(parsing: vault.bytes())
        var text = VaultText()
        text.write(VaultEnvelope.firstLine)
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
        text.write(try VaultEnvelope.lastLine(for: text.bytes[...]))
        try vault.put(text.bytes)
        // The right passphrase opens its slot, the cheapest, and then the header does not hold.
        let right = VaultOpener.passphrase(TestVault.passphrase)
        #expect(throws: VaultError.damaged(.header)) {
            try Vault.unlock(at: vault.path, with: right, ceiling: 14)
        }
        #expect(throws: VaultError.costOverCeiling(logN: 18, ceiling: 14)) {
            try Vault.unlock(at: vault.path, with: .passphrase(secret("wrong")), ceiling: 14)
        }
        #expect(try vault.attempts().vault?.count == 1)
    }
}
