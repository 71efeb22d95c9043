internal import Verification
internal import WatchwordCoding
internal import WatchwordCryptography
internal import WatchwordSystem

extension Service {
    /// Calls the verifier and converts its errors to refusals.
    ///
    /// No error leads to an acceptance.
    func deciding<Value: Sendable>(
        _ call: @autoclosure () async throws(VerifierError) -> Value
    ) async throws(Refusal) -> Value {
        do { return try await call() } catch { throw Self.refusal(for: error) }
    }

    /// Converts the error for a value that the verifier refuses.
    static func converting<Value>(
        _ value: @autoclosure () throws(VerifierError) -> Value
    ) throws(Refusal) -> Value {
        do { return try value() } catch { throw refusal(for: error) }
    }

    /// Decides once per `Idempotency-Key`.
    ///
    /// The response is stored in the transaction of the decision, and a repeated request gets the
    /// stored response. A denial without a check is not stored.
    func deciding<Outcome: Sendable>(
        _ call: Call, response: @escaping @Sendable (Outcome) -> RenderedResponse,
        _ body: (Recorder<Outcome>?) async throws(VerifierError) -> Outcome
    ) async throws(Refusal) -> RenderedResponse {
        let recorder = call.idempotency.map { idempotency in
            Recorder<Outcome>(key: idempotency.digest, request: idempotency.request) { outcome in
                response(outcome).kept()
            }
        }
        do throws(VerifierError) {
            // Build the response from the committed outcome. The recorder may also have been called
            // for a decision that lost its race and was not stored.
            let outcome = try await body(recorder)
            return response(outcome)
        } catch {
            guard case .answered(let recorded) = error, let idempotency = call.idempotency else {
                throw Self.refusal(for: error)
            }
            guard isEqualInConstantTime(recorded.request.span, idempotency.request.span) else {
                throw Refusal(.idempotencyKeyReused)
            }
            guard let kept = recorded.answer else { throw Refusal(.answerEnded) }
            guard let response = RenderedResponse(kept: kept) else {
                throw Refusal(.failed, cause: "kept-answer")
            }
            return response
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
        // The service checks codes itself, and the verifier denies an invalid TPM attestation.
        // Policies and key rings are created before the service starts.
        case .malformedCode, .attestation, .keyRing, .outOfRange:
            Refusal(.failed, cause: "refused-value")
        }
    }
}

// The body's shape has already been checked, so a failure here indicates an error in our own
// schema. The request is rejected as malformed, before any state changes.
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
        guard let text else { throw Refusal(.missingField(FieldFault(field))) }
        return try replacingErrors(
            of: PresentedCode(text), with: Refusal(.invalidField(FieldFault(field))))
    }

    /// The token in a required field.
    func token(
        _ kind: Token.Kind, in field: String, of call: Call
    ) throws(Refusal) -> Token {
        guard let token = token(kind, call.fields.secret(field)) else {
            throw Refusal(.invalidField(FieldFault(field)))
        }
        return token
    }

    func token(_ kind: Token.Kind, _ text: SecretBytes?) -> Token? {
        guard let text else { return nil }
        return text.withBytes { Token(kind, text: $0) }
    }
}

/// The client's key for a request, which identifies a repeated request.
struct IdempotencyKey: Hashable, Sendable {
    /// The name of the header field.
    static let header = "Idempotency-Key"
    /// The form of a key: 1 to 255 visible ASCII characters.
    static let pattern = "^[!-~]{1,255}$"
    /// The text for OpenAPI.
    static let explanation =
        "The same key with the same request gets the same response for 24 hours. The same key with another "
        + "request gets 422. A response that contains a secret is deleted when its credential is used for the "
        + "first time, revoked or deleted; the same key then gets 410, except for device logins, which are "
        + "decided again. A denial without a check, or on a route of devices or pages, is not stored: the same "
        + "key decides again. Use a random UUID."

    /// A digest of the sender and the key: the stored response's primary key.
    let digest: [UInt8]
    /// A digest of the request, keyed with the idempotency key.
    ///
    /// The idempotency key is not stored: a body may contain a short code, which an unkeyed digest
    /// would reveal to guessing.
    let request: [UInt8]

    /// Reads the key of a request; `nil` if the request has none, or if the sender is not
    /// identified.
    ///
    /// - Parameter asker: the sender's namespace: the API client's id, or a digest of the ticket,
    ///   secret or ceremony.
    init?(of request: HTTPRequest, asker: [UInt8]?) throws(Refusal) {
        guard let text = try request.value(of: Self.header) else { return nil }
        let key = Array(text.utf8)
        guard (1...255).contains(key.count), key.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Refusal(.malformedHeader(Self.header))
        }
        guard let asker else { return nil }
        digest = sha256(([UInt8(asker.count)] + asker + key).span)
        var stream = HMACStream(.sha256, key: SecretBytes(copying: key.span))
        for part in [request.method, request.target] {
            let bytes = Array(part.utf8)
            stream.update(Array("\(bytes.count):".utf8).span)
            stream.update(bytes.span)
        }
        request.body.withBytes { stream.update($0) }
        self.request = stream.finish()
    }
}
