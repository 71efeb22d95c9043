import TestSupport
import Testing
import WatchwordCryptography

@testable import PasskeyVerification
@testable import Verification

/// What an assertion that needs a second proof changes before the proof is reported, and after.
@Suite("Step-ups of passkeys")
struct PasskeyStepUpTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let reason: StepUpReason
        let policy: PasskeyPolicy
        /// The flags at the registration, and in the assertions.
        let flags: (registered: UInt8, signed: UInt8)
        var registrationPolicy = PasskeyPolicy.standard
        /// The counter at the registration, in the assertions, and in the one after the proof.
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

    @Test("each reason for a step-up has a case")
    func complete() { #expect(Self.cases.map(\.reason) == StepUpReason.allCases) }

    @Test(
        "W-21 a step-up leaves the passkey as it was until the proof is reported, however often it is tried",
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
