import OneTimePassword
import TestSupport
import Testing

@testable import SecretVault

/// The counters of HOTP entries.
struct CounterTests {
    @Test("H-04 the next counter is on the disk before a code can be generated")
    func counters() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        for counter in UInt64(41)...43 {
            let open = try vault.unlock()
            let content = try open.nextHOTP(ids[1], proof: open.proofOfUnlocking(for: ids[1]))
            #expect(Facts(content).movingFactor == .counter(counter))
            #expect(Facts(try vault.unlock().open(ids[1])).movingFactor == .counter(counter + 1))
        }
    }

    @Test("H-04 a counter reaches its maximum exactly, and is not incremented beyond it")
    func counterEnd() throws {
        let vault = try TestVault()
        let open = try vault.unlock()
        let id = try open.change { try $0.add(TestVault.counting(from: .max - 1), now: 0) }
        let last = try open.nextHOTP(id, proof: open.proofOfUnlocking(for: id))
        #expect(Facts(last).movingFactor == .counter(.max - 1))
        #expect(Facts(try vault.unlock().open(id)).movingFactor == .counter(.max))
        #expect(throws: VaultError.counterExhausted) {
            try open.nextHOTP(id, proof: open.proofOfUnlocking(for: id))
        }
    }

    @Test("H-04 a counter is only raised, never lowered")
    func raisedCounter() throws {
        let vault = try TestVault()
        let open = try vault.unlock()
        let id = try open.change { try $0.add(TestVault.counting(from: 5), now: 0) }
        for (given, reached) in [(UInt64(9), UInt64(9)), (7, 9), (.max, .max), (0, .max)] {
            try open.change { try $0.raiseCounter(of: id, to: given) }
            #expect(try vault.unlock().counter(of: id) == reached)
        }
    }

    @Test("a time-based entry has no counter to increment")
    func noCounter() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let open = try vault.unlock()
        #expect(throws: VaultError.otherKind) {
            try open.nextHOTP(ids[0], proof: open.proofOfUnlocking(for: ids[0]))
        }
    }
}

extension TestVault {
    static func counting(from counter: UInt64) throws(VaultError) -> EntryContent {
        do {
            return .oneTimePassword(
                try Credential(
                    issuer: "", account: "counter", key: secret("1234567890123456"),
                    movingFactor: .counter(counter)))
        } catch {
            throw .otherKind
        }
    }
}
