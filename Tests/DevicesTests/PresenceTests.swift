import Devices
import Testing

/// A check with a preset answer.
private struct Answering<Grade: PresenceGrade>: PresenceCheck {
    struct Unplugged: PresenceFailure, Equatable { let mayConcealAttempt = false }

    let answer: Bool?
    private(set) var asked: [String] = []

    init(_ grade: Grade.Type = Advisory.self, answer: Bool?) { self.answer = answer }

    mutating func isPresent(for purpose: String) throws(Unplugged) -> Bool {
        asked.append(purpose)
        guard let answer else { throw Unplugged() }
        return answer
    }
}

struct PresenceTests {
    private let purpose = PresencePurpose("show a code")

    private func proof(lasting lifetime: Duration = .seconds(30), at now: Duration)
        throws -> PresenceProof<Cryptographic>
    {
        var check = Answering(Cryptographic.self, answer: true)
        guard let proof = try check.prove(for: purpose, lasting: lifetime, now: now) else {
            throw Answering<Cryptographic>.Unplugged()
        }
        return proof
    }

    @Test("a passed check returns a proof of its grade, and the user is asked once")
    func yes() throws {
        var check = Answering(Cryptographic.self, answer: true)
        let proof: PresenceProof<Cryptographic>? = try check.prove(for: purpose, now: .zero)
        #expect(check.asked == ["show a code"])
        guard let proof else {
            Issue.record("a confirmation gave no proof")
            return
        }
        let refusal = proof.spend(on: purpose, now: .zero)
        #expect(refusal == nil)
    }

    @Test("a refusal returns no proof, and a check that fails reports why")
    func no() throws {
        var refusing = Answering(answer: false)
        if try refusing.prove(for: purpose, now: .zero) != nil { Issue.record("unexpected proof") }
        #expect(throws: Answering<Advisory>.Unplugged()) {
            var broken = Answering(answer: nil)
            if try broken.prove(for: purpose, now: .zero) != nil {
                Issue.record("a failed check gave a proof")
            }
        }
    }

    @Test("a proof is valid until it expires, and not a nanosecond longer")
    func expiry() throws {
        let now = Duration.seconds(1_000)
        func refusal(
            of lifetime: Duration = .seconds(30), after time: Duration
        ) throws -> PresenceProofRefusal? {
            try proof(lasting: lifetime, at: now).spend(on: purpose, now: now + time)
        }
        #expect(try refusal(after: .zero) == nil)
        #expect(try refusal(after: .seconds(30) - .nanoseconds(1)) == nil)
        #expect(try refusal(after: .seconds(30)) == .expired)
        #expect(try refusal(of: .seconds(40), after: .seconds(30)) == nil)
        #expect(try refusal(of: .zero, after: .zero) == .expired)
    }

    @Test("a proof's lifetime starts with the answer, not with the question")
    func start() throws {
        let question = Duration.seconds(1_000)
        var moment = question
        struct Thinking: PresenceCheck {
            typealias Grade = Advisory
            let think: () -> Void
            func isPresent(for purpose: String) -> Bool {
                think()
                return true
            }
        }
        var check = Thinking { moment = question + .seconds(100) }
        guard let proof = check.prove(for: purpose, now: moment) else {
            Issue.record("a confirmation gave no proof")
            return
        }
        let refusal = proof.spend(on: purpose, now: question + .seconds(120))
        #expect(refusal == nil)
    }

    @Test("a proof is valid only for its own purpose, not for another purpose with the same text")
    func otherPurpose() throws {
        let other = PresencePurpose(purpose.words)
        let now = Duration.seconds(1_000)
        let refusal = try proof(at: now).spend(on: other, now: now)
        #expect(refusal == .otherPurpose)
    }

    @Test("the names of the grades are “cryptographic” and “advisory”")
    func names() {
        #expect(Cryptographic.name == "cryptographic")
        #expect(Advisory.name == "advisory")
    }
}
