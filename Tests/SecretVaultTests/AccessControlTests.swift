import Devices
import Testing

@testable import SecretVault

/// A check of this grade that always passes.
private struct AlwaysPresent<Grade: PresenceGrade>: PresenceCheck {
    mutating func isPresent(for purpose: String) -> Bool { true }
}

struct AccessControlTests {
    private static let strict = AccessControl(
        presence: .perUse(.any), onFailure: .wipe(after: .three))

    @Test("a counter is read without a proof; wiped entries and entries of other kinds have none")
    func shownCounter() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let open = try vault.unlock()
        #expect(try open.counter(of: ids[0]) == nil)
        #expect(try open.counter(of: ids[1]) == 41)
        _ = try open.nextHOTP(ids[1], proof: open.proofOfUnlocking(for: ids[1]))
        #expect(try open.counter(of: ids[1]) == 42)
        try open.change { try $0.wipe(ids[1], because: .failures, now: 0) }
        #expect(try open.counter(of: ids[1]) == nil)
    }

    @Test("changing an entry's access control keeps its secret, name, position and time")
    func changed() throws {
        let made = try TestVault()
        let ids = try made.fill()
        let before = try made.unlock()
        for id in ids {
            let secret = try Facts(before.open(id))
            try made.unlock().change { try $0.setAccessControl(of: id, to: Self.strict) }
            let after = try made.unlock()
            #expect(after.entries.map(\.id) == ids)
            let entry = try #require(after.entries.first { $0.id == id })
            #expect(entry.accessControl == Self.strict)
            #expect(entry.created == TestVault.now)
            #expect(try Facts(after.open(id)) == secret)
        }
    }

    @Test(
        "O-16 only a check that the entry accepts opens it", arguments: AccessControl.Check.allCases
    )
    func accepted(_ check: AccessControl.Check) throws {
        let made = try TestVault()
        let id = try made.fill()[0]
        let access = AccessControl(presence: .perUse(check), onFailure: .lockOut)
        try made.unlock().change { try $0.setAccessControl(of: id, to: access) }
        let vault = try made.unlock()
        #expect(vault.entries.first { $0.id == id }?.accessControl == access)
        let system = try isAccepted {
            var yes = AlwaysPresent<Advisory>()
            _ = try vault.open(id, proof: vault.proof(&yes, for: id))
        }
        #expect(system == (check != .passphrase))
        let passphrase = try isAccepted {
            var yes = AlwaysPresent<Cryptographic>()
            _ = try vault.open(id, proof: vault.proof(&yes, for: id))
        }
        #expect(passphrase == (check != .pam))
        let unlocking = try isAccepted {
            _ = try vault.open(id, proof: vault.proofOfUnlocking(for: id))
        }
        #expect(unlocking == (check != .pam))
        #expect(try made.attempts().isEmpty, "a check that does not run is not counted")
    }

    private func isAccepted(_ opening: () throws -> Void) throws -> Bool {
        do { try opening() } catch VaultError.differentCheckRequired {
            return false
        } catch NoProof<Never>.vault(.differentCheckRequired) {
            return false
        }
        return true
    }

    @Test("the stricter of two access controls has the stricter of each setting")
    func strictest() throws {
        let one = try #require(FailureCount(1))
        let (short, long) = (try #require(ReuseTime(60)), try #require(ReuseTime(300)))
        func settings(
            _ presence: AccessControl.Presence, _ onFailure: AccessControl.OnFailure,
            _ reuse: ReuseTime = .none
        ) -> AccessControl {
            AccessControl(presence: presence, onFailure: onFailure, reuse: reuse)
        }
        // Each pair is compared in both directions, unless the two require different kinds of
        // check.
        let cases: [(AccessControl, AccessControl, AccessControl)] = [
            (
                settings(.perUnlock, .lockOut), settings(.perUse(.pam), .lockOut, long),
                settings(.perUse(.pam), .lockOut)
            ),
            (
                settings(.perUse(.any), .lockOut, short), settings(.perUse(.any), .lockOut, long),
                settings(.perUse(.any), .lockOut, short)
            ),
            (
                settings(.perUnlock, .wipe(after: one)), settings(.perUnlock, .lockOut),
                settings(.perUnlock, .wipe(after: one))
            ),
            (
                settings(.perUnlock, .wipe(after: one)), settings(.perUnlock, .wipe(after: .three)),
                settings(.perUnlock, .wipe(after: one))
            ),
        ]
        for (first, second, strictest) in cases {
            #expect(first.atLeast(second) == strictest)
            #expect(second.atLeast(first) == strictest)
        }
        // No kind of check is stricter than the others: the entry keeps its own kind.
        let checks = (settings(.perUse(.pam), .lockOut), settings(.perUse(.passphrase), .lockOut))
        #expect(checks.0.atLeast(checks.1) == checks.0)
    }

    @Test("access control of a missing entry cannot be set")
    func missing() throws {
        let made = try TestVault()
        let id = try made.fill()[0]
        let vault = try made.unlock()
        try vault.change { try $0.remove(id, purge: false) }
        #expect(throws: VaultError.noSuchEntry) {
            try vault.change { try $0.setAccessControl(of: id, to: Self.strict) }
        }
    }
}
