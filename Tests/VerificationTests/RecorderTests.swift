import Cryptography
import TestSupport
import Testing

@testable import Verification

@Suite("Answers given again")
struct RecorderTests {
    private static let key = [UInt8](repeating: 5, count: 32)
    private static let request = [UInt8](repeating: 6, count: 32)

    private func recorder() -> Recorder<VerificationOutcome> {
        Recorder(key: RecorderTests.key, request: RecorderTests.request) { outcome in
            SecretBytes(text: "\(outcome.verification.text) \(outcome.acceptance != nil)")
        }
    }

    /// The answer that was given before, if the verifier says that there is one.
    private func recorded<Outcome>(
        _ body: () async throws -> Outcome
    ) async throws -> RecordedAnswer? {
        do {
            _ = try await body()
            return nil
        } catch VerifierError.answered(let answer) { return answer }
    }

    @Test("the same key gets the same answer, and the code is spent once")
    func same() async throws {
        let bench = try TestBench()
        let authenticator = try await bench.enrolled()
        bench.clock.advance(seconds: 300)
        let code = try authenticator.code(at: bench.clock.now)
        func verify() async throws -> VerificationOutcome {
            try await bench.verifier.verify(code, subject: bench.alice, recorder: recorder())
        }
        let first = try await verify()
        #expect(first.acceptance != nil)
        let answer = try #require(try await recorded(verify))
        #expect(answer.answer.text == "\(first.verification.text) true")
        #expect(answer.request == RecorderTests.request)
        #expect(try await bench.count(.accepted) == 1)
    }

    @Test("V-31 an answer that no row holds is an error, and nothing was decided")
    func tooLong() async throws {
        let bench = try TestBench()
        let authenticator = try await bench.enrolled()
        bench.clock.advance(seconds: 300)
        let code = try authenticator.code(at: bench.clock.now)
        for (count, isKept) in [
            (Policy.maximalAnswerCount + 1, false), (Policy.maximalAnswerCount, true),
        ] {
            let recorder = Recorder<VerificationOutcome>(
                key: RecorderTests.key, request: RecorderTests.request
            ) { _ in
                SecretBytes(capacity: count) { output in
                    for _ in 0..<count { output.append(7) }
                }
            }
            do {
                let outcome = try await bench.verifier.verify(
                    code, subject: bench.alice, recorder: recorder)
                #expect(isKept && outcome.acceptance != nil)
            } catch VerifierError.answerTooLong {
                #expect(!isKept)
            }
            #expect(try await bench.count(.accepted) == (isKept ? 1 : 0))
        }
        let kept = try #require(
            try await recorded {
                try await bench.verifier.verify(
                    code, subject: bench.alice, recorder: recorder())
            })
        #expect(kept.answer.count == Policy.maximalAnswerCount)
    }

    @Test("V-18 of 20 requests with one key at once, one is decided and all get its answer")
    func race() async throws {
        let bench = try TestBench()
        let authenticator = try await bench.enrolled()
        let wrong = try authenticator.wrongCode(at: bench.clock.now)
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    do {
                        let outcome = try await bench.verifier.verify(
                            wrong, subject: bench.alice, recorder: recorder())
                        return "\(outcome.verification.text) false"
                    } catch VerifierError.answered(let answer) { return answer.answer.text }
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(answers.count == 1)
        #expect(try await bench.summary(authenticator.credential).failures == 1)
    }

    @Test("N-05 V-28 an answer is sealed where it is stored, for it may hold what is shown once")
    func sealed() async throws {
        let bench = try TestBench()
        let recorder = Recorder<EnrolmentOutcome<SecretGrant>>(
            key: RecorderTests.key, request: RecorderTests.request
        ) { outcome in
            guard case .granted(let grant) = outcome else { return SecretBytes(text: "") }
            return grant.ticket.text
        }
        _ = try await bench.verifier.enrolSecret(for: bench.alice, recorder: recorder)
        let row = try #require(await bench.store.answer(key: RecorderTests.key))
        #expect(!row.sealedAnswer.contains(Array("wwt_".utf8)[...]))
        let answer = try await recorded {
            try await bench.verifier.enrolSecret(for: bench.alice, recorder: recorder)
        }
        let text = try #require(answer).answer
        let ticket = text.withBytes { Token(.enrolmentTicket, text: $0) }
        let redeemed = try await bench.verifier.redeemEnrolment(try #require(ticket))
        #expect(redeemed.value != nil)
    }

    @Test("V-31 a kept answer opens for the request that it was made for, and for no other")
    func bound() async throws {
        let bench = try TestBench()
        let authenticator = try await bench.enrolled()
        let wrong = try authenticator.wrongCode(at: bench.clock.now)
        func verify() async throws -> VerificationOutcome {
            try await bench.verifier.verify(wrong, subject: bench.alice, recorder: recorder())
        }
        _ = try await verify()
        let row = try #require(await bench.store.answer(key: RecorderTests.key))
        var other = row.request
        other[31] ^= 1
        for (request, isBound) in [(other, false), (row.request, true)] {
            bench.clock.advance(seconds: 86_400)
            #expect(try await bench.verifier.prune().answers == 1)
            let put = AnswerRow(
                key: row.key, request: request, keyID: row.keyID, sealedAnswer: row.sealedAnswer,
                expiresAt: bench.clock.now.adding(seconds: 86_400))
            #expect(try await bench.store.commit([.insertAnswer(put)]) == .done)
            do {
                #expect(try await recorded(verify) != nil && isBound)
            } catch VerifierError.damagedRow {
                #expect(!isBound)
            }
        }
    }

    @Test("an answer is kept for a day, and pruned after it")
    func pruned() async throws {
        let bench = try TestBench()
        let authenticator = try await bench.enrolled()
        let wrong = try authenticator.wrongCode(at: bench.clock.now)
        func verify() async throws -> VerificationOutcome {
            try await bench.verifier.verify(wrong, subject: bench.alice, recorder: recorder())
        }
        _ = try await verify()
        bench.clock.now = bench.clock.now.adding(milliseconds: 86_399_999)
        #expect(try await bench.verifier.prune().answers == 0)
        #expect(try await recorded(verify) != nil)
        bench.clock.now = bench.clock.now.adding(milliseconds: 1)
        #expect(try await bench.verifier.prune().answers == 1)
        #expect(try await recorded(verify) == nil)
    }

    @Test("what is refused without a change is kept with its answer, too")
    func refused() async throws {
        let bench = try TestBench()
        let none = try #require(CredentialID(bytes: [UInt8](repeating: 0, count: 16)))
        let recorder = Recorder<ChangeOutcome>(
            key: RecorderTests.key, request: RecorderTests.request
        ) { SecretBytes(text: "\($0)") }
        #expect(try await bench.verifier.revoke(none, recorder: recorder) == .unknown)
        let answer = try await recorded {
            try await bench.verifier.revoke(none, recorder: recorder)
        }
        #expect(answer?.answer.text == "unknown")
    }
}
