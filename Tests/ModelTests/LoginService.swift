import TestSupport
import WatchwordCryptography

@testable import Verification

/// The server's side of a login: the verifier, and the responses that the service records.
struct LoginService: Sendable {
    let policy: Policy
    /// The key ring before and after its second version became current.
    let rings: [KeyRing]
    let subject: Subject
    static let start = UnixTime(seconds: 1_795_000_005)

    init(policy: Policy) throws {
        self.policy = policy
        let first = try KeyRing.make(randomness: .seeded(1))
        let second = try first.adding(makingCurrent: true, randomness: .seeded(2))
        guard let version = first.versions.first else {
            preconditionFailure("a new key ring has a key")
        }
        rings = [try second.making(current: version.id), second]
        guard let subject = Subject("alice") else {
            preconditionFailure("alice is a valid subject")
        }
        self.subject = subject
    }

    /// Returns a new database with one enrolled secret.
    func enrol() async throws -> (MemoryContent, credential: CredentialID, secret: String) {
        var content = MemoryContent(
            chain: EventChain(node: [UInt8](repeating: 1, count: 16), key: rings[0].auditKey))
        let outcome = try await administer(&content, at: Self.start, seed: 3) { verifier in
            guard case .granted(let grant) = try await verifier.enrolSecret(for: subject) else {
                preconditionFailure("the enrolment must be granted")
            }
            return try await verifier.redeemEnrolment(grant.ticket)
        }
        guard case .redeemed(let handed) = outcome else {
            preconditionFailure("the ticket must be redeemed")
        }
        return (content, handed.credential, handed.secret.text.text)
    }

    /// Runs an administrative operation without interruption.
    func administer<Outcome: Sendable>(
        _ content: inout MemoryContent, at now: UnixTime, seed: UInt64,
        _ body: (Verifier) async throws -> Outcome
    ) async throws -> Outcome? {
        var progress = Progress()
        var failure: (any Error)?
        let outcome = try await SteppedStore.run(
            on: &content, auditKey: rings[0].auditKey, keys: rings[0], policy: policy, at: now,
            randomness: seed, progress: &progress, operations: .max
        ) { verifier throws(VerifierError) -> Outcome? in
            do { return try await body(verifier) } catch {
                failure = error
                return nil
            }
        }
        if let failure { throw failure }
        return outcome ?? nil
    }

    /// Processes a login for up to `operations` more store operations.
    ///
    /// - Returns: the response; `nil` if it is not ready.
    func answer(
        _ message: LoginMessage, on content: inout MemoryContent, ring: Int, at now: UnixTime,
        seed: UInt64, progress: inout Progress, operations: Int = .max
    ) async -> LoginReply? {
        let text = Array(message.secret.utf8)
        guard let secret = Token(.secret, text: text.span),
            let nonce = RotationNonce(bytes: message.nonce),
            let credential = CredentialID(text: message.credential)
        else { return .problem(422) }
        let name = Array(message.idempotencyKey.utf8)
        let request = name + text + message.nonce
        let recorder = Recorder<LoginOutcome>(
            key: sha256(name.span), request: sha256(request.span),
            answer: { SecretBytes(text: LoginReply($0).text) })
        do throws(VerifierError) {
            let outcome = try await SteppedStore.run(
                on: &content, auditKey: rings[0].auditKey, keys: rings[ring], policy: policy,
                at: now, randomness: seed, progress: &progress, operations: operations
            ) { verifier throws(VerifierError) in
                try await verifier.login(
                    credential, secret: secret, nonce: nonce, recorder: recorder)
            }
            return outcome.map { LoginReply($0) }
        } catch {
            guard case .answered(let recorded) = error, recorded.request == recorder.request else {
                return .problem(503)
            }
            guard let answer = recorded.answer else { return .problem(409) }
            return LoginReply(text: answer.text)
        }
    }

    static func generation(of secret: String) -> UInt64? {
        let text = Array(secret.utf8)
        return Token(.secret, text: text.span).map { SecretParts($0).generation }
    }
}

extension LoginReply {
    init(_ outcome: LoginOutcome) {
        switch outcome.result {
        case .accepted(let acceptance):
            self = .accepted(
                generation: acceptance.generation, secret: acceptance.secret.text.text,
                verification: outcome.verification.text, login: acceptance.login.text.text)
        case .denied(let wipe): self = .denied(wipe: wipe?.rawValue)
        }
    }
}

extension CredentialRow {
    /// The bytes that a login depends on, without the random name of a decision and the time of the
    /// last use.
    var canonicalLogin: [UInt8] {
        do throws(VerifierError) {
            var record = try CredentialRecord(self)
            record.lastUsedAt = nil
            if case .secret(var chain) = record.material, let handedOut = chain.handedOut,
                let nothing = VerificationID(bytes: [UInt8](repeating: 0, count: 16))
            {
                chain.handedOut = SecretChain.Issued(
                    digest: handedOut.digest, nonceDigest: handedOut.nonceDigest,
                    verification: nothing, time: handedOut.time)
                chain.openLogins = []
                record.material = .secret(chain)
            }
            return Array(record.state.rawValue.utf8) + record.row.body
        } catch { return body }
    }
}
