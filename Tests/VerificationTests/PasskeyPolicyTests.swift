@testable import PasskeyVerification
import TestSupport
import Testing
@testable import Verification
import WatchwordCryptography

/// The effect of a correct signature under each policy.
@Suite("Policies for passkeys")
struct PasskeyPolicyTests {
    private func meaning(
        _ policy: PasskeyPolicy, backup: (Bool, Bool) = (false, false), uv: Bool = true,
        wasVerified: Bool = true, counts: (UInt32, UInt32) = (0, 0), isKnown: Bool = false,
        wasEverEligible: Bool? = nil
    ) -> AssertionPolicy {
        func flags(_ isEligible: Bool) -> PasskeyFlags {
            PasskeyFlags(isUserVerified: uv, isBackupEligible: isEligible, isBackedUp: false)
        }
        return AssertionPolicy(
            policy: policy, wasEverBackupEligible: wasEverEligible ?? backup.0,
            stored: flags(backup.0), flags: flags(backup.1),
            storedCount: counts.0, count: counts.1, wasUserVerified: wasVerified,
            isKnownDevice: isKnown)
    }

    @Test("W-20 K-21 decisions on backups follow the policy's table")
    func backup() {
        typealias Verdict = AssertionPolicy.Verdict
        let accepted = Verdict.accepted(stepUp: [])
        let table: [(PasskeyPolicy.Backup, [Verdict])] = [
            (.any, [accepted, accepted, accepted, accepted]),
            (
                .stepUp,
                [
                    accepted, .accepted(stepUp: [.newDevice]),
                    .accepted(stepUp: [.becameSyncable]), .accepted(stepUp: [.backupFlags]),
                ]
            ),
            (
                .deviceBound,
                [
                    accepted, .denied(.notDeviceBound), .denied(.backupEligibilityChanged),
                    .denied(.backupEligibilityChanged),
                ]
            ),
        ]
        let changes = [(false, false), (true, true), (false, true), (true, false)]
        for (backup, verdicts) in table {
            for (change, verdict) in zip(changes, verdicts) {
                let found = meaning(PasskeyPolicy(backup: backup), backup: change)
                #expect(found.verdict == verdict, "\(backup) \(change)")
                #expect(found.hasBackupChanged == (change.0 != change.1))
            }
        }
        let known = meaning(PasskeyPolicy(backup: .stepUp), backup: (true, true), isKnown: true)
        #expect(known.verdict == accepted)
    }

    @Test("K-21 a passkey that could once be copied may have a copy, regardless of its flags now")
    func copies() {
        func verdict(
            _ backup: PasskeyPolicy.Backup, isKnown: Bool = false
        ) -> AssertionPolicy.Verdict {
            meaning(PasskeyPolicy(backup: backup), isKnown: isKnown, wasEverEligible: true).verdict
        }
        #expect(verdict(.any) == .accepted(stepUp: []))
        #expect(verdict(.stepUp) == .accepted(stepUp: [.newDevice]))
        #expect(verdict(.stepUp, isKnown: true) == .accepted(stepUp: []))
        #expect(verdict(.deviceBound) == .denied(.backupEligibilityChanged))
    }

    @Test(
        "K-21 a passkey that could be copied since its registration never counts as bound again",
        arguments: [false, true])
    func onceEligible(wasRegisteredSo: Bool) async throws {
        let bench = try PasskeyFixture()
        var passkey = try TestPasskey()
        let (bound, copyable): (UInt8, UInt8) = (0x05, 0x0d)
        passkey.flags = wasRegisteredSo ? copyable : bound
        let credential = try await bench.register(passkey)
        var couldBeCopied = wasRegisteredSo
        for flags in [bound, copyable, bound, bound] {
            passkey.flags = flags
            couldBeCopied = couldBeCopied || flags == copyable
            let outcome = try await bench.signIn(passkey)
            #expect(outcome.isAccepted)
            // The response, the list and the policy agree.
            #expect(outcome.signer?.isDeviceBound == !couldBeCopied)
            let listed = try await bench.fixture.summary(credential).passkey
            #expect(listed?.isDeviceBound == !couldBeCopied)
        }
        let strict = PasskeyPolicy(backup: .deviceBound)
        #expect(
            try await bench.signIn(passkey, policy: strict).denial == .backupEligibilityChanged)
        let careful = PasskeyPolicy(backup: .stepUp)
        let first = try await bench.signIn(passkey, policy: careful)
        #expect(first.stepUp == [.newDevice])
        let device = try #require(first.signer?.device)
        _ = try await bench.passkeys.completeStepUp(of: credential, for: first.verification)
        #expect(try await bench.signIn(passkey, policy: careful, device: device).isAccepted)
    }

    @Test("K-18 K-19 decisions on user verification follow the policy's table")
    func userVerification() {
        for choice in PasskeyPolicy.UserVerification.allCases {
            let policy = PasskeyPolicy(userVerification: choice)
            let unverified: AssertionPolicy.Verdict =
                choice == .required ? .denied(.userVerification) : .accepted(stepUp: [])
            let first: AssertionPolicy.Verdict =
                .accepted(stepUp: choice == .discouraged ? [] : [.firstVerification])
            #expect(meaning(policy).verdict == .accepted(stepUp: []))
            #expect(meaning(policy, uv: false).verdict == unverified)
            #expect(meaning(policy, wasVerified: false).verdict == first)
        }
    }

    @Test("W-20 K-56 decisions on the counter follow the policy's table")
    func counter() {
        let counts: [((UInt32, UInt32), CounterFinding)] = [
            ((0, 0), .none), ((0, 1), .ok), ((5, 6), .ok), ((UInt32.max - 1, .max), .ok),
            ((5, 5), .rollback), ((5, 4), .rollback), ((5, 0), .rollback),
            ((.max, .max), .rollback), ((.max, 0), .rollback),
        ]
        for (pair, finding) in counts {
            for policy in PasskeyPolicy.Counter.allCases {
                let found = meaning(PasskeyPolicy(counter: policy), counts: pair)
                #expect(found.counter == finding)
                let expected: AssertionPolicy.Verdict =
                    switch (policy, finding) {
                    case (.stepUp, .rollback): .accepted(stepUp: [.counter])
                    case (.deny, .rollback): .denied(.counter)
                    default: .accepted(stepUp: [])
                    }
                #expect(found.verdict == expected, "\(policy) \(pair)")
            }
        }
    }

    @Test("a denial takes precedence over a step-up, and all reasons for a step-up are returned")
    func precedence() {
        let policy = PasskeyPolicy(backup: .stepUp, counter: .deny)
        #expect(
            meaning(policy, backup: (true, true), counts: (5, 5)).verdict == .denied(.counter))
        #expect(
            meaning(
                PasskeyPolicy(backup: .stepUp, counter: .stepUp), backup: (true, true),
                wasVerified: false, counts: (5, 5)
            ).verdict == .accepted(stepUp: [.newDevice, .firstVerification, .counter]))
    }

    @Test("a synced passkey is accepted in a browser only after a second proof there")
    func devices() async throws {
        let bench = try PasskeyFixture()
        var passkey = try TestPasskey()
        passkey.flags = 0x1d
        let credential = try await bench.register(passkey)
        let policy = PasskeyPolicy(backup: .stepUp)
        let first = try await bench.signIn(passkey, policy: policy)
        #expect(first.stepUp == [.newDevice])
        let device = try #require(first.signer?.device)
        // The device is not known before the second proof.
        let early = try await bench.signIn(passkey, policy: policy, device: device)
        #expect(early.stepUp == [.newDevice])
        let later = try #require(early.signer?.device)
        #expect(try await bench.fixture.summary(credential).lastUsedAt == nil)
        // Only the last assertion can be completed, once.
        func complete(_ outcome: AssertionOutcome) async throws -> ChangeOutcome {
            try await bench.passkeys.completeStepUp(of: credential, for: outcome.verification)
        }
        #expect(try await complete(first) == .refused)
        #expect(try await complete(early) == .done)
        #expect(try await complete(early) == .refused)
        let known = try await bench.signIn(passkey, policy: policy, device: later)
        #expect(known.isAccepted)
        #expect(known.signer?.device == nil)
        #expect(try await bench.signIn(passkey, policy: policy, device: device).stepUp != [])
        // Other policies do not require a known device.
        #expect(try await bench.signIn(passkey).isAccepted)
        #expect(
            try await bench.signIn(passkey, policy: PasskeyPolicy(backup: .deviceBound)).denial
                == .notDeviceBound)
    }

    @Test("a step-up must be completed within ten minutes, for an active credential")
    func late() async throws {
        let bench = try PasskeyFixture()
        var passkey = try TestPasskey()
        passkey.flags = 0x1d
        let credential = try await bench.register(passkey)
        let policy = PasskeyPolicy(backup: .stepUp)
        for (seconds, expected) in [(599, .done), (600, .refused)] as [(Int64, ChangeOutcome)] {
            let outcome = try await bench.signIn(passkey, policy: policy)
            bench.fixture.clock.advance(seconds: seconds)
            #expect(
                try await bench.passkeys.completeStepUp(of: credential, for: outcome.verification)
                    == expected)
        }
        let older = try await bench.signIn(passkey, policy: policy)
        let last = try await bench.signIn(passkey, policy: policy)
        for (verification, expected) in [
            (older.verification, .refused), (last.verification, .done),
            (last.verification, .refused),
        ] as [(VerificationID, ChangeOutcome)] {
            #expect(
                try await bench.passkeys.completeStepUp(of: credential, for: verification)
                    == expected)
        }
        _ = try await bench.fixture.verifier.revoke(credential)
        #expect(
            try await bench.passkeys.completeStepUp(of: credential, for: last.verification)
                == .unknown)
        // Each refusal is in the audit log, or is counted there.
        try await bench.fixture.verifier.writeCountedDenials(atEnd: true)
        let denials = try await bench.fixture.events().filter { $0.kind == .denied }
        #expect(denials.map(\.reason) == [.expired, .unknown, .unknown])
        #expect(denials.map(\.number) == [nil, nil, 2])
        #expect(denials.allSatisfy { $0.credential == credential && $0.subject == bench.alice })
    }

    @Test(
        "the first verification of a user, after a registration without one, needs a second proof")
    func firstVerification() async throws {
        let bench = try PasskeyFixture()
        var passkey = try TestPasskey()
        passkey.flags = 0x01
        let credential = try await bench.register(
            passkey, policy: PasskeyPolicy(userVerification: .preferred))
        let preferred = PasskeyPolicy(userVerification: .preferred)
        let unverified = try await bench.signIn(passkey, policy: preferred)
        #expect(unverified.isAccepted)
        #expect(unverified.signer?.isUserVerified == false)
        passkey.flags = 0x05
        // A policy that does not rely on user verification learns nothing from it.
        #expect(
            try await bench.signIn(
                passkey, policy: PasskeyPolicy(userVerification: .discouraged)
            ).isAccepted)
        let first = try await bench.signIn(passkey)
        #expect(first.stepUp == [.firstVerification])
        _ = try await bench.passkeys.completeStepUp(of: credential, for: first.verification)
        #expect(try await bench.signIn(passkey).isAccepted)
    }

    @Test("V-25 N-30 the tokens of ceremonies and devices are random, and not in the store's rows")
    func tokens() async throws {
        let bench = try PasskeyFixture()
        var passkey = try TestPasskey()
        passkey.flags = 0x1d
        let credential = try await bench.register(passkey)
        var tokens: Set<[UInt8]> = []
        for _ in 0..<50 {
            let ceremony = try await bench.passkeys.beginAuthentication(
                CeremonyRequest(for: bench.alice, policy: PasskeyPolicy(backup: .stepUp)))
            let outcome = try await bench.finish(ceremony, passkey)
            let device = try #require(outcome.signer?.device)
            for token in [ceremony.token, device] {
                let text = token.text.withBytes { [UInt8](copying: $0) }
                #expect(tokens.insert(text).inserted)
            }
            let row = try #require(try await bench.fixture.store.credential(credential))
            let bytes = device.bytes.withBytes { [UInt8](copying: $0) }
            #expect(!row.body.contains(bytes))
            bench.fixture.clock.advance(seconds: 1)
        }
    }
}

/// The changes that an assertion with a second proof makes, before and after the proof is reported.
@Suite("Step-ups of passkeys")
struct PasskeyStepUpTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let reason: StepUpReason
        let policy: PasskeyPolicy
        /// The flags at the registration and in the assertions.
        let flags: (registered: UInt8, signed: UInt8)
        var registrationPolicy = PasskeyPolicy.standard
        /// The counter at the registration, in the assertions, and in the assertion after the
        /// proof.
        var counts: (registered: UInt32, signed: UInt32, last: UInt32) = (5, 9, 10)

        var testDescription: String { reason.rawValue }
    }

    static let cases = [
        Case(
            reason: .newDevice, policy: PasskeyPolicy(backup: .stepUp),
            flags: (registered: 0x0d, signed: 0x1d)),
        Case(
            reason: .becameSyncable, policy: PasskeyPolicy(backup: .stepUp),
            flags: (registered: 0x05, signed: 0x0d)),
        Case(
            reason: .backupFlags, policy: PasskeyPolicy(backup: .stepUp),
            flags: (registered: 0x0d, signed: 0x05)),
        Case(
            reason: .firstVerification, policy: .standard, flags: (registered: 0x01, signed: 0x05),
            registrationPolicy: PasskeyPolicy(userVerification: .preferred)),
        Case(
            reason: .counter, policy: PasskeyPolicy(counter: .stepUp),
            flags: (registered: 0x0d, signed: 0x1d),
            counts: (registered: 5, signed: 4, last: 6)),
    ]

    @Test("each reason for a step-up is tested")
    func complete() { #expect(Self.cases.map(\.reason) == StepUpReason.allCases) }

    @Test(
        "W-21 a step-up does not change the passkey until the proof is reported, despite repeated attempts",
        arguments: cases)
    func unproven(_ sample: Case) async throws {
        let bench = try PasskeyFixture()
        var passkey = try TestPasskey()
        passkey.flags = sample.flags.registered
        passkey.count = sample.counts.registered
        let credential = try await bench.register(passkey, policy: sample.registrationPolicy)
        func state() async throws -> PasskeyState {
            let row = try #require(try await bench.fixture.store.credential(credential))
            guard case .passkey(var state) = try CredentialRecord(row).material else {
                throw BenchError.refused
            }
            state.stepUp = nil
            // Each answer spends its challenge.
            state.spent = SpentChallenges()
            return state
        }
        let registered = try await state()
        passkey.flags = sample.flags.signed
        passkey.count = sample.counts.signed
        var device: Token?
        var last: VerificationID?
        for _ in 0..<3 {
            let outcome = try await bench.signIn(passkey, policy: sample.policy, device: device)
            #expect(outcome.stepUp == [sample.reason])
            #expect(try await state() == registered)
            #expect(try await bench.fixture.summary(credential).lastUsedAt == nil)
            device = outcome.signer?.device ?? device
            last = outcome.verification
        }
        let proof = try await bench.passkeys.completeStepUp(
            of: credential, for: try #require(last))
        #expect(proof == .done)
        #expect(try await state() != registered)
        #expect(try await bench.fixture.summary(credential).lastUsedAt != nil)
        passkey.count = sample.counts.last
        #expect(
            try await bench.signIn(passkey, policy: sample.policy, device: device).isAccepted)
    }
}
