import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

@Suite("Recorded responses")
struct RecorderTests {
    static let key = [UInt8](repeating: 5, count: 32)
    private static let request = [UInt8](repeating: 6, count: 32)

    func recorder() -> Recorder<VerificationOutcome> {
        Recorder(key: RecorderTests.key, request: RecorderTests.request) { outcome in
            SecretBytes(text: "\(outcome.verification.text) \(outcome.acceptance != nil)")
        }
    }

    /// The recorded response that the verifier reports, or `nil` if it made a new decision.
    func recorded<Outcome>(
        _ body: () async throws -> Outcome
    ) async throws -> RecordedAnswer? {
        do {
            _ = try await body()
            return nil
        } catch VerifierError.answered(let answer) { return answer }
    }

    @Test("the same idempotency key gets the same response, and the code is spent once")
    func same() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        let code = try authenticator.code(at: fixture.clock.now)
        func verify() async throws -> VerificationOutcome {
            try await fixture.verifier.verify(code, subject: fixture.alice, recorder: recorder())
        }
        let first = try await verify()
        #expect(first.acceptance != nil)
        let answer = try #require(try await recorded(verify))
        #expect(answer.answer?.text == "\(first.verification.text) true")
        #expect(answer.request == RecorderTests.request)
        #expect(try await fixture.count(.accepted) == 1)
    }

    @Test("V-31 a response too long to be recorded is an error, and nothing is decided")
    func tooLong() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        let code = try authenticator.code(at: fixture.clock.now)
        for (count, isKept) in [
            (Policy.maximumAnswerCount + 1, false), (Policy.maximumAnswerCount, true),
        ] {
            let recorder = Recorder<VerificationOutcome>(
                key: RecorderTests.key, request: RecorderTests.request
            ) { _ in
                SecretBytes(capacity: count) { output in
                    for _ in 0..<count { output.append(7) }
                }
            }
            do {
                let outcome = try await fixture.verifier.verify(
                    code, subject: fixture.alice, recorder: recorder)
                #expect(isKept && outcome.acceptance != nil)
            } catch VerifierError.answerTooLong {
                #expect(!isKept)
            }
            #expect(try await fixture.count(.accepted) == (isKept ? 1 : 0))
        }
        let kept = try #require(
            try await recorded {
                try await fixture.verifier.verify(
                    code, subject: fixture.alice, recorder: recorder())
            })
        #expect(kept.answer?.count == Policy.maximumAnswerCount)
    }

    @Test("V-18 of 20 concurrent requests with one key, one is decided and all get its response")
    func race() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        let wrong = try authenticator.wrongCode(at: fixture.clock.now)
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    do {
                        let outcome = try await fixture.verifier.verify(
                            wrong, subject: fixture.alice, recorder: recorder())
                        return "\(outcome.verification.text) false"
                    } catch VerifierError.answered(let answer) { return answer.answer?.text ?? "" }
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(answers.count == 1)
        #expect(try await fixture.summary(authenticator.credential).failures == 1)
    }

    @Test("N-05 V-28 a recorded response is sealed, because it may contain a secret")
    func sealed() async throws {
        let fixture = try VerifierFixture()
        let recorder = Recorder<EnrolmentOutcome<SecretGrant>>(
            key: RecorderTests.key, request: RecorderTests.request
        ) { outcome in
            guard case .granted(let grant) = outcome else { return SecretBytes(text: "") }
            return grant.ticket.text
        }
        _ = try await fixture.verifier.enrolSecret(for: fixture.alice, recorder: recorder)
        let row = try #require(await fixture.store.answer(key: RecorderTests.key))
        let sealed = try #require(row.sealed)
        #expect(!sealed.bytes.contains(Array("wwt_".utf8)[...]))
        let answer = try await recorded {
            try await fixture.verifier.enrolSecret(for: fixture.alice, recorder: recorder)
        }
        let text = try #require(answer?.answer)
        let ticket = text.withBytes { Token(.enrolmentTicket, text: $0) }
        let redeemed = try await fixture.verifier.redeemEnrolment(try #require(ticket))
        #expect(redeemed.value != nil)
    }

    @Test("V-31 a recorded response opens only for the request it belongs to")
    func bound() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        let wrong = try authenticator.wrongCode(at: fixture.clock.now)
        func verify() async throws -> VerificationOutcome {
            try await fixture.verifier.verify(wrong, subject: fixture.alice, recorder: recorder())
        }
        _ = try await verify()
        let row = try #require(await fixture.store.answer(key: RecorderTests.key))
        var other = row.request
        other[31] ^= 1
        for (request, isBound) in [(other, false), (row.request, true)] {
            fixture.clock.advance(seconds: 80_000)
            // An event late in that day confirms the clock.
            _ = try await fixture.verify(wrong)
            fixture.clock.advance(seconds: 4 * 3_600)
            #expect(try await fixture.verifier.prune().answers == 1)
            let put = AnswerRow(
                key: row.key, request: request, credential: row.credential, sealed: row.sealed,
                expiresAt: fixture.clock.now.adding(seconds: 86_400))
            #expect(try await fixture.store.commit([.insertAnswer(put)]) == .done)
            do {
                #expect(try await recorded(verify) != nil && isBound)
            } catch VerifierError.damagedRow {
                #expect(!isBound)
            }
        }
    }

    @Test("a recorded response is kept for a day and then pruned")
    func pruned() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        let wrong = try authenticator.wrongCode(at: fixture.clock.now)
        func verify() async throws -> VerificationOutcome {
            try await fixture.verifier.verify(wrong, subject: fixture.alice, recorder: recorder())
        }
        _ = try await verify()
        // An event late in that day confirms the clock.
        fixture.clock.advance(seconds: 20 * 3_600)
        _ = try await fixture.verify(wrong)
        fixture.clock.now = fixture.clock.now.adding(milliseconds: 4 * 3_600_000 - 1)
        #expect(try await fixture.verifier.prune().answers == 0)
        #expect(try await recorded(verify) != nil)
        fixture.clock.now = fixture.clock.now.adding(milliseconds: 1)
        #expect(try #require(try await recorded(verify)).answer == nil)
        #expect(try await fixture.verifier.prune().answers == 1)
        #expect(try await recorded(verify) == nil)
    }

    @Test("a refusal that changes nothing is recorded")
    func refused() async throws {
        let fixture = try VerifierFixture()
        let none = try #require(CredentialID(bytes: [UInt8](repeating: 0, count: 16)))
        let recorder = Recorder<ChangeOutcome>(
            key: RecorderTests.key, request: RecorderTests.request
        ) { SecretBytes(text: "\($0)") }
        #expect(try await fixture.verifier.revoke(none, recorder: recorder) == .unknown)
        let answer = try await recorded {
            try await fixture.verifier.revoke(none, recorder: recorder)
        }
        #expect(answer?.answer?.text == "unknown")
    }

    func recorder<Outcome>(
        _ number: UInt8, _ answer: @escaping @Sendable (Outcome) -> SecretBytes
    ) -> Recorder<Outcome> {
        Recorder(
            key: [UInt8](repeating: number, count: 32), request: RecorderTests.request,
            answer: answer)
    }

    /// Whether the recorded response is still available.
    ///
    /// Also checks that the sealed bytes are deleted together with the response.
    private func exists(
        _ number: UInt8, _ fixture: VerifierFixture, until end: AnswerEnd = .confirmation
    ) async throws -> Bool {
        let key = [UInt8](repeating: number, count: 32)
        let row = try #require(try await fixture.store.answer(key: key))
        let context = await fixture.verifier.context(.unknown)
        let answer = try #require(try await fixture.verifier.recorded(key, until: end, context))
        #expect(answer.request == RecorderTests.request)
        #expect((answer.answer == nil) == (row.sealed == nil))
        return answer.answer != nil
    }

    private func enrolCode(_ fixture: VerifierFixture) async throws -> TestAuthenticator {
        let enrolment = try OneTimePasswordEnrolment(issuer: "Mill", account: "alice")
        let grant = try await fixture.verifier.enrolOneTimePassword(
            enrolment, for: fixture.alice,
            recorder: recorder(1) { _ in SecretBytes(text: "the key") }
        ).granted()
        #expect(try await exists(1, fixture))
        return try TestAuthenticator(grant)
    }

    /// The events that end recorded responses with secrets.
    enum Ending: CaseIterable {
        case use, revocation, accountEnd, failures, lapse
    }

    @Test(
        "O-06 a recorded key is deleted when its credential is confirmed, ends or expires",
        arguments: Ending.allCases)
    func keyEnds(_ ending: Ending) async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await enrolCode(fixture)
        let id = authenticator.credential
        switch ending {
        case .use:
            let wrong = try authenticator.wrongCode(at: fixture.clock.now)
            #expect(try await fixture.verifier.confirm(id, code: wrong).acceptance == nil)
            #expect(try await exists(1, fixture))
            let code = try authenticator.code(at: fixture.clock.now)
            #expect(try await fixture.verifier.confirm(id, code: code).acceptance != nil)
        case .revocation: #expect(try await fixture.verifier.revoke(id) == .done)
        case .accountEnd: #expect(try await fixture.verifier.closeAccount(of: fixture.alice) == 1)
        case .failures:
            let wrong = try authenticator.wrongCode(at: fixture.clock.now)
            for _ in 0..<fixture.verifier.policy.disablingFailures {
                _ = try await fixture.verifier.confirm(id, code: wrong)
                _ = try await fixture.verifier.unlock(id)
            }
            #expect(try await fixture.summary(id).state == .disabled)
        case .lapse:
            fixture.clock.advance(seconds: 4 * 3_600)
            #expect(try await fixture.verifier.prune().credentials == 1)
        }
        #expect(try await !exists(1, fixture))
    }

    @Test(
        "O-06 a response restored after its credential is confirmed or ends is not returned",
        arguments: [Ending.use, .revocation, .failures])
    func rolledBack(_ ending: Ending) async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await enrolCode(fixture)
        let id = authenticator.credential
        let row = try #require(
            try await fixture.store.answer(key: [UInt8](repeating: 1, count: 32)))
        #expect(row.sealed != nil)
        let code = try authenticator.code(at: fixture.clock.now)
        let confirmation = try await fixture.verifier.confirm(
            id, code: code, recorder: recorder(2) { _ in SecretBytes(text: "confirmed") })
        #expect(confirmation.acceptance != nil)
        switch ending {
        case .revocation: #expect(try await fixture.verifier.revoke(id) == .done)
        case .failures:
            let wrong = try authenticator.wrongCode(at: fixture.clock.now)
            for _ in 0..<fixture.verifier.policy.disablingFailures {
                _ = try await fixture.verify(wrong)
                _ = try await fixture.verifier.unlock(id)
            }
            #expect(try await fixture.summary(id).state == .disabled)
        default: break
        }
        #expect(try await !exists(1, fixture))
        // The response to the confirmation contains no secret and stays.
        #expect(try await exists(2, fixture))
        // The restored row has not expired.
        let later = fixture.clock.now.adding(seconds: 100_000)
        #expect(try await fixture.store.prune(Pruning(now: later)).answers == 2)
        #expect(try await fixture.store.commit([.insertAnswer(row)]) == .done)
        let context = await fixture.verifier.context(.unknown)
        let ends: [AnswerEnd] = ending == .use ? [.confirmation] : [.confirmation, .use, .end]
        for end in ends {
            let answer = try #require(
                try await fixture.verifier.recorded(row.key, until: end, context))
            #expect(answer.answer == nil)
            #expect(answer.request == RecorderTests.request)
        }
    }

    @Test("O-06 recorded recovery codes are deleted on first use or when a new set is enrolled")
    func codesEnd() async throws {
        let fixture = try VerifierFixture()
        func enrol(_ number: UInt8) async throws -> RecoveryGrant {
            let grant = try await fixture.verifier.enrolRecoveryCodes(
                for: fixture.alice,
                recorder: recorder(number) { _ in SecretBytes(text: "the codes") }
            ).granted()
            return grant
        }
        _ = try await enrol(1)
        let second = try await enrol(2)
        #expect(try await !exists(1, fixture, until: .use))
        #expect(try await exists(2, fixture, until: .use))
        let code = try PresentedCode(second.codes[0])
        #expect(try await fixture.verify(code).acceptance != nil)
        #expect(try await !exists(2, fixture, until: .use))
    }

    @Test("O-06 responses to a device are deleted at its next step or with the credential")
    func deviceEnds() async throws {
        let fixture = try VerifierFixture()
        let grant = try await fixture.verifier.enrolSecret(
            for: fixture.alice, recorder: recorder(1) { _ in SecretBytes(text: "the ticket") }
        ).granted()
        #expect(try await exists(1, fixture))
        let handedOut = try await fixture.verifier.redeemEnrolment(
            grant.ticket, recorder: recorder(2) { _ in SecretBytes(text: "the secret") })
        #expect(try await !exists(1, fixture))
        #expect(try await exists(2, fixture, until: .use))
        let secret = try #require(handedOut.value).secret
        func login(_ number: UInt8) async throws -> LoginOutcome {
            let nonce = try #require(
                RotationNonce(bytes: [UInt8](repeating: 1, count: RotationNonce.count)))
            return try await fixture.verifier.login(
                grant.credential, secret: secret, nonce: nonce,
                recorder: recorder(number) { _ in SecretBytes(text: "the next secret") })
        }
        #expect(try await login(3).acceptance != nil)
        // The same request is sent under a different key.
        #expect(try await login(4).acceptance != nil)
        #expect(try await !exists(2, fixture, until: .use))
        #expect(try await exists(3, fixture, until: .end))
        #expect(try await exists(4, fixture, until: .end))
        #expect(try await fixture.verifier.revoke(grant.credential) == .done)
        #expect(try await !exists(3, fixture, until: .end))
        #expect(try await !exists(4, fixture, until: .end))
        // A device that lost the response learns only that the credential was revoked.
        #expect(try await login(3).wipe == .revoked)
    }

    @Test("O-06 recorded enrolment responses put back in the database are not returned")
    func deviceAnswersPutBack() async throws {
        let fixture = try VerifierFixture()
        func enrol() async throws -> SecretGrant {
            let grant = try await fixture.verifier.enrolSecret(
                for: fixture.alice, recorder: recorder(1) { _ in SecretBytes(text: "the ticket") }
            ).granted()
            return grant
        }
        let grant = try await enrol()
        func redeem() async throws -> IssuedSecret? {
            try await fixture.verifier.redeemEnrolment(
                grant.ticket, recorder: recorder(2) { _ in SecretBytes(text: "the secret") }
            ).value
        }
        func row(_ number: UInt8) async throws -> AnswerRow {
            let key = [UInt8](repeating: number, count: 32)
            return try #require(try await fixture.store.answer(key: key))
        }
        func answer(_ ask: () async throws -> Void) async throws -> RecordedAnswer? {
            do { try await ask() } catch VerifierError.answered(let recorded) {
                return recorded
            }
            return nil
        }
        let granted = try await row(1)
        let secret = try #require(try await redeem())
        let redeemed = try await row(2)
        // The recorded response is returned until the secret is used.
        #expect(try await answer { _ = try await redeem() }?.answer != nil)
        let device = TestDevice(credential: secret.credential, secret: secret.secret)
        #expect(try await fixture.login(device, nonce: 1).acceptance != nil)
        let later = fixture.clock.now.adding(seconds: 100_000)
        #expect(try await fixture.store.prune(Pruning(now: later)).answers == 2)
        let rolledBack = [StoreChange.insertAnswer(granted), .insertAnswer(redeemed)]
        #expect(try await fixture.store.commit(rolledBack) == .done)
        #expect(try await row(1).sealed != nil)
        let ended = [
            try #require(try await answer { _ = try await enrol() }),
            try #require(try await answer { _ = try await redeem() }),
        ]
        #expect(ended.map(\.request) == [granted.request, redeemed.request])
        #expect(ended.allSatisfy { $0.answer == nil })
    }
}
