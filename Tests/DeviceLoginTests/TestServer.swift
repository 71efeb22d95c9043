import Courier
import TestSupport
import WatchwordCryptography

/// A server inside this process that follows EnrolledSecrets.md, and a network that loses and
/// repeats messages on demand.
struct TestServer: RequestSender {
    /// The fault of one exchange.
    enum Fault: CaseIterable {
        case none
        /// The request never arrives.
        case requestLost
        /// The server decides, but its response never arrives.
        case answerLost
        /// The request arrives twice in immediate succession.
        case doubled
        /// The request arrives a second time, after the next request.
        case delayed
    }

    struct Row {
        var generation: UInt64 = 0
        var current: String
        var nonce: RotationNonce?
        var acceptance: HelperResponse.Acceptance?
        var successor: String?
        var earlier: [String] = []
        var failures = 0
        var wiped: HelperResponse.WipeOrder?
    }

    var row: Row
    var faults: [Fault] = []
    /// The credential of the next enrolment.
    var credential = "cr_test"
    /// The logins that arrived, in order.
    var arrived: [HelperRequest.Login] = []
    /// Responses that replace the server's own, in order.
    var scripted: [Result<HelperResponse, HTTPHelperFailure>] = []
    /// Called before a request is handled, to simulate a different process.
    var meanwhile: () -> Void = {}
    private var answers: [String: HelperResponse] = [:]
    private var delayed: [HelperRequest] = []
    private var made = 0

    init() { row = Row(current: "wws_0") }

    mutating func send(_ request: HelperRequest) throws(HTTPHelperFailure) -> HelperResponse {
        meanwhile()
        if !scripted.isEmpty { return try scripted.removeFirst().get() }
        let late = delayed
        delayed = []
        let fault = faults.isEmpty ? .none : faults.removeFirst()
        if fault == .requestLost { throw .timedOut }
        if fault == .delayed { delayed.append(request) }
        let answer = decide(request)
        if fault == .doubled { _ = decide(request) }
        for request in late { _ = decide(request) }
        if fault == .answerLost { throw .connectionLost }
        return answer
    }

    /// Simulates a failover to a replica that missed the last decision.
    mutating func loseLastDecision() {
        row.successor = nil
        row.nonce = nil
        row.acceptance = nil
        answers = [:]
    }

    private mutating func decide(_ request: HelperRequest) -> HelperResponse {
        if let answer = answers[request.idempotencyKey] { return answer }
        let answer: HelperResponse
        switch request.operation {
        case .enrolment:
            row = Row(current: "wws_0")
            answer = .enrolled(
                credential: Token(credential) ?? request.fallback,
                HelperResponse.NextSecret(secret: SecretBytes(text: "wws_0"), generation: 0))
        case .login(let login):
            arrived.append(login)
            answer = decide(login, request.fallback)
        case .keyRegistration, .keyActivation, .challenge, .signature, .application:
            preconditionFailure("a server for enrolled secrets got another request")
        }
        // Denials are not recorded, because the same cause denies a repeated request again.
        if case .denied = answer { return answer }
        answers[request.idempotencyKey] = answer
        return answer
    }

    private mutating func decide(_ login: HelperRequest.Login, _ name: Token) -> HelperResponse {
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

    private mutating func wipe(_ order: HelperResponse.WipeOrder) -> HelperResponse {
        row.wiped = order
        return .denied(wipe: order)
    }

    private mutating func handOut(_ nonce: RotationNonce, _ name: Token) -> HelperResponse {
        made += 1
        row.failures = 0
        let next = "wws_\(row.generation + 1)_" + Hex.text(nonce.bytes)
        row.successor = next
        row.nonce = nonce
        let acceptance = HelperResponse.Acceptance(
            verification: Token("vf_\(made)") ?? name, login: SecretBytes(text: "wwl_\(made)"),
            expiresAt: PlainText(showing: "soon"),
            next: HelperResponse.NextSecret(
                secret: SecretBytes(text: next), generation: row.generation + 1))
        row.acceptance = acceptance
        return .accepted(acceptance)
    }
}

extension HelperRequest {
    /// The credential of a login, or a fixed one for an enrolment.
    fileprivate var fallback: Token {
        switch operation {
        case .login(let login): login.credential
        case .enrolment, .keyRegistration, .keyActivation, .challenge, .signature, .application:
            Token("cr_test") ?? { preconditionFailure("cr_test is a valid token") }()
        }
    }
}
