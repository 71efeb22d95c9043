internal import Verification
internal import WatchwordCryptography

extension Service {
    /// Calls the verifier and converts its errors to refusals.
    ///
    /// No error leads to an acceptance.
    func deciding<Value: Sendable>(
        _ body: () async throws(VerifierError) -> Value
    ) async throws(Refusal) -> Value {
        do throws(VerifierError) {
            return try await body()
        } catch {
            throw Self.refusal(for: error)
        }
    }

    /// Decides once per `Idempotency-Key`.
    ///
    /// The response is stored in the transaction of the decision, and a repeated request gets the
    /// stored response. A denial without a check is not stored.
    func deciding<Outcome: Sendable>(
        _ call: Call, answer: @escaping @Sendable (Outcome) -> Answer,
        _ body: (Recorder<Outcome>?) async throws(VerifierError) -> Outcome
    ) async throws(Refusal) -> Answer {
        let recorder = call.idempotency.map { idempotency in
            Recorder<Outcome>(key: idempotency.digest, request: idempotency.request) { outcome in
                answer(outcome).kept()
            }
        }
        do throws(VerifierError) {
            // Build the response from the committed outcome. The recorder may also have been called
            // for a decision that lost its race, which is not stored.
            let outcome = try await body(recorder)
            return answer(outcome)
        } catch {
            guard case .answered(let recorded) = error, let idempotency = call.idempotency else {
                throw Self.refusal(for: error)
            }
            guard isEqualInConstantTime(recorded.request.span, idempotency.request.span) else {
                throw Refusal(.idempotencyKeyReused)
            }
            guard let kept = recorded.answer else { throw Refusal(.answerEnded) }
            guard let answer = Answer(kept: kept) else {
                throw Refusal(.failed, cause: "kept-answer")
            }
            return answer
        }
    }

    /// Converts an error of the verifier to a problem for the client and a cause for the operator.
    static func refusal(for error: VerifierError) -> Refusal {
        switch error {
        case .store(let failure) where failure.code == "clock-differs":
            Refusal(.unavailable, cause: failure.code)
        case .store(let failure):
            Refusal(
                .unavailable,
                cause: "store-\(failure.kind.rawValue)"
                    + (failure.code.isEmpty ? "" : " \(failure.code)"))
        case .contended: Refusal(.unavailable, cause: "contended")
        case .overloaded: Refusal(.unavailable, cause: "overloaded")
        case .keyMissing(let key): Refusal(.keyUnavailable, cause: "key-missing \(key.number)")
        case .cryptography(let failure):
            Refusal(.failed, cause: "cryptography-\(failure.call.rawValue)")
        case .damagedRow: Refusal(.failed, cause: "damaged-row")
        case .tooManyDenials(let seconds), .tooManyChallenges(let seconds):
            Refusal(.tooManyRequests(retryAfter: seconds))
        case .answerTooLong: Refusal(.failed, cause: "answer-too-long")
        case .answered: Refusal(.failed, cause: "answered")
        case .enrolment(let fault): refusal(for: fault)
        // The service checks codes itself, and the verifier denies what a TPM attests wrongly.
        // Policies and key rings are made before the service starts.
        case .malformedCode, .attestation, .keyRing, .outOfRange:
            Refusal(.failed, cause: "refused-value")
        }
    }
}

// The body's shape has already been checked, so a failure here means that our own schema is wrong.
// The request is rejected as malformed, before any state changes.
extension Service {
    func subject(_ text: String?) throws(Refusal) -> Subject {
        guard let subject = text.flatMap({ Subject($0) }) else {
            throw Refusal(.invalidField("subject"))
        }
        return subject
    }

    func credential(_ call: Call) throws(Refusal) -> CredentialID {
        guard let id = call.parameters["credential"].flatMap({ CredentialID(text: $0) }) else {
            throw Refusal(.malformedTarget)
        }
        return id
    }

    func code(_ text: SecretBytes?, field: String) throws(Refusal) -> PresentedCode {
        guard let text else { throw Refusal(.missingField(field)) }
        do throws(VerifierError) {
            return try PresentedCode(text)
        } catch {
            throw Refusal(.invalidField(field))
        }
    }

    func token(_ kind: Token.Kind, _ text: SecretBytes?) -> Token? {
        guard let text else { return nil }
        return text.withBytes { Token(kind, text: $0) }
    }
}
