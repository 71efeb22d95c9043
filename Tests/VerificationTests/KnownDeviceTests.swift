import PasskeyVerification
import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

/// Known devices, whose codes are not delayed by the failures of strangers.
@Suite("Known devices")
struct KnownDeviceTests {
    /// A fixture with a credential, and with the token of a device where its code was accepted.
    private func prepared(
        _ policy: Policy = .standard
    ) async throws -> (VerifierFixture, TestAuthenticator, Token) {
        let fixture = try VerifierFixture(policy: policy)
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        let device = try await fixture.remembered(authenticator)
        fixture.clock.advance(seconds: 300)
        return (fixture, authenticator, device)
    }

    @Test("H-13 N-14 N-16 during a wait, only the code of a known device is checked")
    func waiting() async throws {
        let (fixture, authenticator, device) = try await prepared()
        try await fixture.fail(Policy.failuresUntilWait, authenticator)
        let code = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(code).denial == .throttled(retryAfter: Policy.firstWait))
        let accepted = try await fixture.verify(code, from: device)
        #expect(accepted.acceptance != nil && accepted.device == nil)
        #expect(try await fixture.summary(authenticator.credential).failures == 0)
        // The wait of strangers continues, and their next failure doubles it.
        fixture.clock.now = fixture.clock.now.adding(milliseconds: Policy.firstWait - 1)
        let next = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(next).denial == .throttled(retryAfter: 1))
        fixture.clock.now = fixture.clock.now.adding(milliseconds: 1)
        try await fixture.fail(1, authenticator)
        #expect(
            try await fixture.verify(next).denial == .throttled(retryAfter: 2 * Policy.firstWait))
        // A success of the device within a day does not stop the doubling.
        fixture.clock.advance(seconds: 3_600)
        let soon = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(soon, from: device).acceptance != nil)
        try await fixture.fail(1, authenticator)
        #expect(
            try await fixture.verify(next).denial == .throttled(retryAfter: 4 * Policy.firstWait))
        // A day without failures of strangers, followed by a success, ends their level.
        fixture.clock.advance(seconds: 86_400)
        let later = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(later, from: device).acceptance != nil)
        try await fixture.fail(Policy.failuresUntilWait - 1, authenticator)
        let stranger = try await fixture.verify(
            authenticator.code(at: fixture.clock.now, steps: 1))
        #expect(stranger.acceptance != nil && stranger.device == nil)
    }

    @Test("N-11 V-02 wrong codes do not lock out an owner with a known device")
    func attack() async throws {
        let (fixture, authenticator, device) = try await prepared()
        var evaluated = 0
        for hour in 1...(24 * 14) {
            let outcome = try await fixture.verify(
                authenticator.wrongCode(at: fixture.clock.now))
            if outcome.denial == .wrong { evaluated += 1 }
            if hour % 72 == 0 {
                let code = try authenticator.code(at: fixture.clock.now)
                #expect(try await fixture.verify(code, from: device).acceptance != nil)
            }
            fixture.clock.advance(seconds: 3_600)
        }
        #expect(evaluated == 24 * 14)
        #expect(try await fixture.summary(authenticator.credential).state == .active)
        #expect(try await fixture.count(.locked) == 1)
    }

    @Test("H-12 N-11 a known device may fail three times, and these failures count in the total")
    func ownFailures() async throws {
        let (fixture, authenticator, device) = try await prepared()
        try await fixture.fail(Policy.failuresUntilWait, authenticator)
        let wrong = try authenticator.wrongCode(at: fixture.clock.now)
        let (one, other) = (fixture.verifier, fixture.anotherVerifier())
        let alice = fixture.alice
        let denials = try await withThrowingTaskGroup { group in
            for number in 0..<50 {
                group.addTask {
                    try await (number % 2 == 0 ? one : other).verify(
                        VerificationRequest(wrong, of: alice, device: device)
                    ).denial
                }
            }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(denials == [.wrong: 3, .throttled(retryAfter: Policy.firstWait): 47])
        #expect(
            try await fixture.summary(authenticator.credential).failures == Policy.standard
                .firstFailureWithWait + 3)
        let code = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(code, from: device).isThrottled)
        // After the wait, the device succeeds like a stranger, and is trusted again.
        fixture.clock.now = fixture.clock.now.adding(milliseconds: Policy.firstWait)
        let next = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(next, from: device).acceptance != nil)
        try await fixture.fail(Policy.failuresUntilWait, authenticator)
        let last = try authenticator.code(at: fixture.clock.now, steps: 1)
        #expect(try await fixture.verify(last, from: device).acceptance != nil)
    }

    @Test("H-12 N-11 a known device that used up its failures may fail once more each hour")
    func hourly() async throws {
        let (fixture, authenticator, device) = try await prepared()
        try await fixture.fail(Policy.failuresUntilWait, authenticator)
        for _ in 0..<10 { try await strangerFails() }
        func strangerFails() async throws {
            fixture.clock.advance(seconds: 3_600)
            try await fixture.fail(1, authenticator)
        }
        let start = fixture.clock.now
        func denial(after milliseconds: Int64) async throws -> VerificationOutcome.Denial? {
            fixture.clock.now = start.adding(milliseconds: milliseconds)
            return try await fixture.verify(
                authenticator.wrongCode(at: fixture.clock.now), from: device
            ).denial
        }
        for _ in 0..<3 { #expect(try await denial(after: 0) == .wrong) }
        #expect(try await denial(after: 3_599_999) == .throttled(retryAfter: 1))
        try await strangerFails()
        #expect(try await denial(after: 7_199_999) == .wrong)
        guard case .throttled = try await denial(after: 10_799_998) else {
            Issue.record("a code was checked")
            return
        }
        try await strangerFails()
        let code = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(code, from: device).acceptance != nil)
    }

    @Test("N-11 the failures of known devices and of strangers together disable a credential")
    func total() async throws {
        let (fixture, authenticator, device) = try await prepared()
        let wrong = try authenticator.wrongCode(at: fixture.clock.now)
        for _ in 0..<3 { #expect(try await fixture.verify(wrong, from: device).denial == .wrong) }
        for _ in 0..<97 {
            #expect(try await fixture.verify(wrong).denial == .wrong)
            _ = try await fixture.verifier.unlock(authenticator.credential)
        }
        #expect(try await fixture.summary(authenticator.credential).state == .disabled)
        let code = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(code, from: device).denial == .disabled)
    }

    @Test("a device is known to all of a subject's one-time passwords, with one count of failures")
    func several() async throws {
        let (fixture, time, device) = try await prepared()
        let counter = try await fixture.enrolled(.counter(0))
        try await fixture.fail(Policy.failuresUntilWait, time)
        let named = try await fixture.verifier.verify(
            VerificationRequest(
                counter.code(1), of: fixture.alice, credential: counter.credential, device: device))
        #expect(named.acceptance != nil)
        for _ in 0..<3 {
            let outcome = try await fixture.verifier.verify(
                VerificationRequest(
                    counter.wrongCode(at: fixture.clock.now), of: fixture.alice,
                    credential: counter.credential, device: device))
            #expect(outcome.denial == .wrong)
        }
        // The device's failures are stored in the row of the other credential.
        let code = try time.code(at: fixture.clock.now)
        #expect(try await fixture.verify(code, from: device).isThrottled)
        // Each code was checked for the credential that it belongs to.
        #expect(try await fixture.summary(counter.credential).failures == 3)
        #expect(
            try await fixture.summary(time.credential).failures
                == Policy.failuresUntilWait)
    }

    @Test(
        "V-06 the token of another subject or of an ended credential is ignored, at the same cost")
    func ignored() async throws {
        let (fixture, authenticator, device) = try await prepared()
        let bob = try #require(Subject("bob"))
        let other = try await fixture.enrolled(for: bob)
        fixture.clock.advance(seconds: 60)
        let madeUp = Token(.knownDevice, Randomness.secret(count: 32))
        try await fixture.fail(Policy.failuresUntilWait, other, of: bob)
        func cost(_ device: Token, _ subject: Subject) async throws -> [[Int]] {
            let code = try other.code(at: fixture.clock.now)
            let before = fixture.meter.counts
            _ = await fixture.store.takeCalls()
            let outcome = try await fixture.verifier.verify(
                VerificationRequest(code, of: subject, device: device))
            #expect(outcome.acceptance == nil)
            #expect(
                await fixture.store.takeCalls()
                    == [.readCredentials, .commit([.writeRow, .event])])
            return WorkMeter.Work.allCases.map {
                [$0.rawValue, (fixture.meter.counts[$0] ?? 0) - (before[$0] ?? 0)]
            }
        }
        let unknown = try await cost(madeUp, try #require(Subject("nobody-else")))
        #expect(try await cost(device, bob) == unknown)
        #expect(try await cost(madeUp, bob) == unknown)
        let own = try await fixture.remembered(other, of: bob, after: 30)
        _ = try await fixture.verifier.revoke(other.credential)
        #expect(try await cost(own, bob) == unknown)
        // The token of an ended credential is not valid for the next credential either.
        let next = try await fixture.enrolled(for: bob)
        fixture.clock.advance(seconds: 60)
        try await fixture.fail(Policy.failuresUntilWait, next, of: bob)
        #expect(
            try await fixture.verifier.verify(
                VerificationRequest(next.code(at: fixture.clock.now), of: bob, device: own)
            ).isThrottled)
        #expect(try await fixture.summary(authenticator.credential).failures == 0)
    }

    @Test("a credential has eight known devices; a further device replaces the least recently used")
    func eight() async throws {
        let (fixture, authenticator, first) = try await prepared()
        var devices = [first]
        for _ in 0..<7 {
            fixture.clock.advance(seconds: 60)
            devices.append(try await fixture.remembered(authenticator))
        }
        fixture.clock.advance(seconds: 60)
        let code = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(code, from: first).acceptance != nil)
        fixture.clock.advance(seconds: 60)
        devices.append(try await fixture.remembered(authenticator))
        try await fixture.fail(Policy.failuresUntilWait, authenticator)
        let wrong = try authenticator.wrongCode(at: fixture.clock.now)
        for (number, device) in devices.enumerated() {
            let outcome = try await fixture.verify(wrong, from: device)
            #expect(outcome.isThrottled == (number == 1), "\(number)")
        }
        let row = try #require(try await fixture.store.credential(authenticator.credential))
        #expect(row.body.count < 800, "a row stays small")
    }

    @Test("unlocking and a restore keep known devices")
    func kept() async throws {
        let (fixture, authenticator, device) = try await prepared()
        try await fixture.fail(Policy.failuresUntilWait, authenticator)
        #expect(try await fixture.verifier.unlock(authenticator.credential) == .done)
        #expect(try await fixture.summary(authenticator.credential).waitsUntil == nil)
        let row = try #require(try await fixture.store.credential(authenticator.credential))
        let restored = try #require(try row.afterRestoring(at: fixture.clock.now))
        #expect(try await fixture.store.commit([.updateCredential(restored.row)]) == .done)
        try await fixture.fail(1, authenticator)
        fixture.clock.advance(seconds: 660)
        try await fixture.fail(1, authenticator)
        let code = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(code).isThrottled)
        #expect(try await fixture.verify(code, from: device).acceptance != nil)
    }

    @Test("wrong one-time passwords do not delay recovery codes, which can make a device known")
    func recovery() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        let grant = try await fixture.verifier.enrolRecoveryCodes(for: fixture.alice).granted()
        try await fixture.fail(Policy.failuresUntilWait, authenticator)
        let code = try grant.codes[0].withBytes { code throws(VerifierError) in
            try PresentedCode(code)
        }
        let accepted = try await fixture.verifier.verify(
            VerificationRequest(code, of: fixture.alice, remembersDevice: true))
        #expect(accepted.acceptance?.kind == .recovery)
        let device = try #require(accepted.device)
        let password = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(password).isThrottled)
        #expect(try await fixture.verify(password, from: device).acceptance != nil)
        // The device does not end the wait of recovery codes.
        let wrong = try PresentedCode(text: "AAAA-AAAA-AAAA-AAAA")
        for _ in 0..<Policy.failuresUntilWait {
            #expect(try await fixture.verify(wrong).denial == .wrong)
        }
        #expect(try await fixture.verify(wrong, from: device).isThrottled)
    }

    @Test("wrong one-time passwords do not delay passkeys")
    func passkeys() async throws {
        let bench = try PasskeyFixture()
        let passkey = try TestPasskey()
        try await bench.register(passkey)
        let authenticator = try await bench.fixture.enrolled()
        bench.fixture.clock.advance(seconds: 300)
        try await bench.fixture.fail(Policy.failuresUntilWait, authenticator)
        #expect(
            try await bench.fixture.verify(
                authenticator.code(at: bench.fixture.clock.now)
            ).isThrottled)
        let ceremony = try await bench.passkeys.beginAuthentication(
            CeremonyRequest(for: bench.alice))
        #expect(
            try await bench.finish(ceremony, passkey).isAccepted)
    }

    @Test("a list with too many devices or failures is refused as damaged")
    func damaged() throws {
        for (count, failures, isDamaged) in [(8, 3, false), (9, 3, true), (8, 4, true)] {
            var writer = ByteWriter()
            writer.write(UInt8(count))
            for number in 0..<count {
                writer.write(SampleKeys.bytes(UInt8(number), 32))
                writer.write(UInt8(failures))
                writer.write(UnixTime(seconds: 0))
            }
            var reader = ByteReader(writer.bytes)
            do {
                _ = try KnownDevices(from: &reader)
                #expect(!isDamaged)
            } catch VerifierError.damagedRow {
                #expect(isDamaged)
            }
        }
    }

    @Test("a row that an earlier version wrote is read, with the wait of its failures")
    func earlierRow() async throws {
        let (fixture, authenticator, _) = try await prepared()
        try await fixture.fail(Policy.failuresUntilWait, authenticator)
        fixture.clock.now = fixture.clock.now.adding(milliseconds: Policy.firstWait)
        try await fixture.fail(1, authenticator)
        let failures = Policy.failuresUntilWait + 1
        var row = try #require(try await fixture.store.credential(authenticator.credential))
        let record = try CredentialRecord(row)
        var writer = ByteWriter()
        record.throttle.writeRest(into: &writer)
        record.devices.write(into: &writer)
        row.body.removeLast(writer.bytes.count)
        let earlier = try CredentialRecord(row)
        #expect(earlier.throttle.level == failures && earlier.throttle.failures == failures)
        #expect(earlier.throttle.wait == 2 * Policy.firstWait && earlier.devices == KnownDevices())
        #expect(earlier.throttle.waitsUntil == record.throttle.waitsUntil)
        #expect(try CredentialRecord(record.row).devices == record.devices)
        #expect(try CredentialRecord(record.row).throttle == record.throttle)
    }
}

extension VerifierFixture {
    /// Presents a code for the subject `alice`, from a device.
    func verify(_ code: PresentedCode, from device: Token) async throws -> VerificationOutcome {
        try await verifier.verify(
            VerificationRequest(code, of: alice, device: device, remembersDevice: true))
    }

    /// Presents wrong codes, as a stranger, all of which are checked.
    func fail(
        _ count: Int, _ authenticator: TestAuthenticator, of subject: Subject? = nil
    ) async throws {
        let wrong = try authenticator.wrongCode(at: clock.now)
        for _ in 0..<count {
            let outcome = try await verifier.verify(wrong, subject: subject ?? alice)
            #expect(outcome.denial == .wrong)
        }
    }

    /// Presents the current code, and returns the token of a new device.
    func remembered(
        _ authenticator: TestAuthenticator, of subject: Subject? = nil, after seconds: Int64 = 0
    ) async throws -> Token {
        clock.advance(seconds: seconds)
        let outcome = try await verifier.verify(
            VerificationRequest(
                authenticator.code(at: clock.now), of: subject ?? alice, remembersDevice: true))
        return try #require(outcome.device)
    }
}
