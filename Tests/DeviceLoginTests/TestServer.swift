import Courier
import Cryptography
import TestSupport

/// A server of section 5.1 in this process, and the network before it, which loses and repeats on demand.
struct TestServer: Messenger {
    /// What goes wrong with one exchange.
    enum Fault: CaseIterable {
        case none
        /// The request never arrives.
        case requestLost
        /// The server decides, and its answer never arrives.
        case answerLost
        /// It arrives twice, one right after the other.
        case doubled
        /// It arrives once more after the next one.
        case delayed
    }

    struct Row {
        var generation: UInt64 = 0
        var current: String
        var nonce: RotationNonce?
        var acceptance: CourierAnswer.Acceptance?
        var successor: String?
        var earlier: [String] = []
        var failures = 0
        var wiped: CourierAnswer.WipeOrder?
    }

    var row: Row
    var faults: [Fault] = []
    /// What arrived, in order.
    var arrived: [Errand.Login] = []
    /// Answers that take the place of the server's own, the first one first.
    var scripted: [Result<CourierAnswer, CourierFailure>] = []
    /// Called before an errand is taken, as if from another process.
    var meanwhile: () -> Void = {}
    private var answers: [String: CourierAnswer] = [:]
    private var delayed: [Errand] = []
    private var made = 0

    init() { row = Row(current: "wws_0") }

    mutating func carry(_ errand: Errand) throws(CourierFailure) -> CourierAnswer {
        meanwhile()
        if !scripted.isEmpty { return try scripted.removeFirst().get() }
        let late = delayed
        delayed = []
        let fault = faults.isEmpty ? .none : faults.removeFirst()
        if fault == .requestLost { throw .timedOut }
        if fault == .delayed { delayed.append(errand) }
        let answer = decide(errand)
        if fault == .doubled { _ = decide(errand) }
        for errand in late { _ = decide(errand) }
        if fault == .answerLost { throw .connectionLost }
        return answer
    }

    /// As after a fail-over to a copy that missed the last decision.
    mutating func loseLastDecision() {
        row.successor = nil
        row.nonce = nil
        row.acceptance = nil
        answers = [:]
    }

    private mutating func decide(_ errand: Errand) -> CourierAnswer {
        if let answer = answers[errand.idempotencyKey] { return answer }
        let answer: CourierAnswer
        switch errand.question {
        case .enrolment:
            row = Row(current: "wws_0")
            answer = .enrolled(
                credential: errand.fallback,
                CourierAnswer.HandedSecret(secret: SecretBytes(text: "wws_0"), generation: 0))
        case .login(let login):
            arrived.append(login)
            answer = decide(login, errand.fallback)
        }
        // A denial is not recorded: deciding again denies again, as long as there is cause.
        if case .denied = answer { return answer }
        answers[errand.idempotencyKey] = answer
        return answer
    }

    private mutating func decide(_ login: Errand.Login, _ name: Token) -> CourierAnswer {
        if let wiped = row.wiped { return .denied(wipe: wiped) }
        let secret = login.secret.text
        if secret == row.successor {
            row.earlier.append(row.current)
            row.current = secret
            row.generation += 1
            return handOut(login.nonce, name)
        }
        if secret == row.current {
            guard row.successor != nil, let acceptance = row.acceptance else {
                return handOut(login.nonce, name)
            }
            return login.nonce == row.nonce ? .accepted(acceptance) : wipe(.reuseDetected)
        }
        if row.earlier.contains(secret) { return wipe(.reuseDetected) }
        row.failures += 1
        return row.failures >= 3 ? wipe(.tooManyFailures) : .denied(wipe: nil)
    }

    private mutating func wipe(_ order: CourierAnswer.WipeOrder) -> CourierAnswer {
        row.wiped = order
        return .denied(wipe: order)
    }

    private mutating func handOut(_ nonce: RotationNonce, _ name: Token) -> CourierAnswer {
        made += 1
        row.failures = 0
        let next = "wws_\(row.generation + 1)_" + Hex.text(nonce.bytes)
        row.successor = next
        row.nonce = nonce
        let acceptance = CourierAnswer.Acceptance(
            verification: Token("vf_\(made)") ?? name, login: SecretBytes(text: "wwl_\(made)"),
            expiresAt: PlainText(showing: "soon"),
            next: CourierAnswer.HandedSecret(
                secret: SecretBytes(text: next), generation: row.generation + 1))
        row.acceptance = acceptance
        return .accepted(acceptance)
    }
}

extension Errand {
    /// A token that is there for certain.
    fileprivate var fallback: Token {
        switch question {
        case .login(let login): login.credential
        case .enrolment:
            Token("cr_test") ?? { preconditionFailure("the test's names are tokens") }()
        }
    }
}
