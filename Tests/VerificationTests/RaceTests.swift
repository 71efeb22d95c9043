import StoreContract
import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

@Suite("Races")
struct RaceTests {
    /// A fixture whose store lets all racing tasks read before any task writes.
    private func fixture() throws -> (fixture: VerifierFixture, store: BarrierStore) {
        var gathering: BarrierStore?
        let fixture = try VerifierFixture(wrapping: { memory in
            let store = BarrierStore(memory)
            gathering = store
            return store
        })
        return (fixture, try #require(gathering))
    }

    /// Runs `body` concurrently `count` times and returns all results.
    private func race<Result: Sendable>(
        _ count: Int, on store: BarrierStore, reading: BarrierStore.Reading = .credential,
        _ body: @escaping @Sendable (Int) async throws -> Result
    ) async throws -> [Result] {
        await store.gather(count, reading: reading)
        return try await withThrowingTaskGroup(of: Result.self) { group in
            for index in 0..<count { group.addTask { try await body(index) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test("T-10 N-07 V-18 a code presented by 100 tasks on two verifiers is accepted once")
    func oneCode() async throws {
        let (fixture, store) = try fixture()
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        let code = try authenticator.code(at: fixture.clock.now)
        let verifiers = [fixture.verifier, fixture.anotherVerifier()]
        let outcomes = try await race(100, on: store) { index in
            try await verifiers[index % 2].verify(code, subject: fixture.alice)
        }
        #expect(outcomes.filter { $0.acceptance != nil }.count == 1)
        #expect(outcomes.filter { $0.denial == .replayed }.count == 99)
        #expect(try await fixture.count(.accepted) == 1)
    }

    @Test(
        "H-12 H-07 N-09 V-19 of 500 concurrent wrong codes, only those before the first wait are checked, and all are answered"
    )
    func wrongCodes() async throws {
        let (fixture, store) = try fixture()
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        let wrong = try authenticator.wrongCode(at: fixture.clock.now)
        let verifiers = [fixture.verifier, fixture.anotherVerifier()]
        let outcomes = try await race(500, on: store) { index in
            try await verifiers[index % 2].verify(wrong, subject: fixture.alice)
        }
        #expect(outcomes.count == 500)
        let checked = Policy.failuresUntilWait
        #expect(outcomes.filter { $0.denial == .wrong }.count == checked)
        #expect(outcomes.filter(\.isThrottled).count == 500 - checked)
        #expect(try await fixture.summary(authenticator.credential).failures == checked)
        #expect(try await fixture.count(.locked) == 1)
    }

    @Test("N-18 R-07 of 20 concurrent holders of one secret, at most one succeeds, and then none")
    func oneSecret() async throws {
        for _ in 0..<5 {
            let (fixture, store) = try fixture()
            let device = try await fixture.enrolledDevice()
            let verifiers = [fixture.verifier, fixture.anotherVerifier()]
            let outcomes = try await race(20, on: store) { index in
                let nonce = try #require(
                    RotationNonce(bytes: [UInt8](repeating: UInt8(index), count: 16)))
                return try await verifiers[index % 2].login(
                    device.credential, secret: device.secret, nonce: nonce)
            }
            #expect(outcomes.filter { $0.acceptance != nil }.count <= 1)
            #expect(outcomes.filter { $0.wipe == .reuseDetected }.count >= 19)
            #expect(try await fixture.summary(device.credential).state == .revoked)
            for acceptance in outcomes.compactMap(\.acceptance) {
                #expect(try await fixture.verifier.redeemLogin(acceptance.login).value == nil)
            }
        }
    }

    @Test("R-06 20 concurrent logins with the same nonce get the same response")
    func oneNonce() async throws {
        let (fixture, store) = try fixture()
        let device = try await fixture.enrolledDevice()
        let outcomes = try await race(20, on: store) { _ in
            try await fixture.login(device, nonce: 1)
        }
        #expect(Set(outcomes.map(\.verification)).count == 1)
        let secrets = try outcomes.map { try #require($0.acceptance).secret.bytes.known }
        #expect(Set(secrets).count == 1)
        #expect(try await fixture.count(.accepted) == 1)
    }

    @Test("V-16 a login ticket presented by 50 tasks is redeemed once")
    func loginTicket() async throws {
        let (fixture, store) = try fixture()
        let device = try await fixture.enrolledDevice()
        let login = try #require(try await fixture.login(device, nonce: 1).acceptance).login
        let outcomes = try await race(50, on: store, reading: .ticket) { _ in
            try await fixture.verifier.redeemLogin(login)
        }
        #expect(outcomes.filter { $0.value != nil }.count == 1)
    }

    @Test("N-34 an enrolment ticket presented by 50 tasks yields one secret")
    func enrolmentTicket() async throws {
        let (fixture, store) = try fixture()
        let ticket = try await fixture.ticket().ticket
        let outcomes = try await race(50, on: store) { _ in
            try await fixture.verifier.redeemEnrolment(ticket)
        }
        #expect(outcomes.filter { $0.value != nil }.count == 1)
    }

    @Test("N-18 a recovery code presented by 20 tasks is accepted once")
    func recoveryCode() async throws {
        let (fixture, store) = try fixture()
        let grant = try await fixture.verifier.enrolRecoveryCodes(for: fixture.alice).granted()
        let code = try PresentedCode(grant.codes[0])
        let outcomes = try await race(20, on: store) { _ in try await fixture.verify(code) }
        #expect(outcomes.filter { $0.acceptance != nil }.count == 1)
    }

    @Test("N-35 of several sets of recovery codes enrolled concurrently, one remains active")
    func recoverySets() async throws {
        for hasEarlier in [false, true] {
            let (fixture, store) = try fixture()
            if hasEarlier { _ = try await fixture.verifier.enrolRecoveryCodes(for: fixture.alice) }
            let outcomes = try await race(6, on: store) { _ in
                try await fixture.verifier.enrolRecoveryCodes(for: fixture.alice)
            }
            let granted = outcomes.filter { if case .granted = $0 { true } else { false } }
            #expect(granted.count == 6)
            let sets = try await fixture.verifier.credentials(of: fixture.alice).credentials
            #expect(sets.filter { $0.state == .active }.count == 1)
            #expect(try await fixture.count(.revoked) == (hasEarlier ? 6 : 5))
            // After the set is revoked, a new set can be enrolled.
            let last = try #require(sets.first { $0.state == .active })
            #expect(try await fixture.verifier.revoke(last.id) == .done)
            guard case .granted = try await fixture.verifier.enrolRecoveryCodes(for: fixture.alice)
            else { throw BenchError.refused }
        }
    }

    @Test("N-33 of 20 credentials that are confirmed concurrently as the first, one becomes active")
    func firstOnes() async throws {
        let (fixture, store) = try fixture()
        var pending: [TestAuthenticator] = []
        for _ in 0..<20 { pending.append(try await fixture.enrol()) }
        let authenticators = pending
        let verifiers = [fixture.verifier, fixture.anotherVerifier()]
        let outcomes = try await race(20, on: store) { index in
            let one = authenticators[index]
            return try await verifiers[index % 2].confirmFirst(
                one.credential, of: fixture.alice, code: one.code(at: fixture.clock.now))
        }
        #expect(outcomes.count { $0.acceptance != nil } == 1)
        #expect(outcomes.count { $0.denial == .unknown } == 19)
        #expect(try await fixture.count(.enrolled) == 1)
        // The other credentials are still pending, because an administrator may have issued them.
        let states = try await fixture.verifier.credentials(of: fixture.alice).credentials
            .map(\.state)
        #expect(states.count { $0 == .active } == 1 && states.count { $0 == .pending } == 19)
    }

    @Test("of six authenticators that are removed concurrently, one remains")
    func removals() async throws {
        let (fixture, store) = try fixture()
        var enrolled: [TestAuthenticator] = []
        for _ in 0..<6 { enrolled.append(try await fixture.enrolled()) }
        let authenticators = enrolled
        let outcomes = try await race(6, on: store) { index in
            try await fixture.verifier.revoke(
                authenticators[index].credential, keepingAuthenticatorOf: fixture.alice)
        }
        #expect(outcomes.count { $0 == .done } == 5)
        #expect(outcomes.count { $0 == .refused } == 1)
        #expect(try await fixture.count(.revoked) == 5)
    }

    @Test("T-04 a key enrolled 20 times concurrently is accepted once")
    func oneKey() async throws {
        let (fixture, store) = try fixture()
        let enrolment = try OneTimePasswordEnrolment(
            issuer: "", account: "a", key: SecretBytes(text: "a key from elsewhere"))
        let outcomes = try await race(20, on: store, reading: .fingerprint) { index in
            try await fixture.verifier.enrolOneTimePassword(
                enrolment, for: #require(Subject("subject \(index)")))
        }
        let granted = outcomes.filter { if case .granted = $0 { true } else { false } }
        #expect(granted.count == 1)
    }

    @Test("N-39 a revocation that races with a code leaves the credential revoked")
    func revocation() async throws {
        for _ in 0..<10 {
            let (fixture, store) = try fixture()
            let authenticator = try await fixture.enrolled()
            fixture.clock.advance(seconds: 300)
            let code = try authenticator.code(at: fixture.clock.now)
            _ = try await race(2, on: store) { index in
                if index == 0 {
                    _ = try await fixture.verify(code)
                } else {
                    _ = try await fixture.verifier.revoke(authenticator.credential)
                }
            }
            #expect(try await fixture.summary(authenticator.credential).state == .revoked)
            fixture.clock.advance(seconds: 300)
            let next = try authenticator.code(at: fixture.clock.now)
            #expect(try await fixture.verify(next).acceptance == nil)
        }
    }
}
