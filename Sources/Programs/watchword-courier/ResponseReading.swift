internal import Courier
internal import JSONReading
internal import WatchwordCoding
internal import WatchwordCryptography

extension CurlResponse {
    /// Parses the response to `operation`.
    ///
    /// Unknown members are ignored: a newer server may send more. Every known member must be
    /// present and well-formed.
    func parsed(for operation: HelperRequest.Operation) throws(HTTPHelperFailure) -> HelperResponse
    {
        switch (operation, status) {
        case (.enrolment, 200), (.enrolment, 201): return try enrolled(try object())
        case (.login, 200): return try login(try object())
        case (.keyRegistration, 200), (.keyRegistration, 201):
            return try registered(try object())
        case (.keyRegistration, 403): return try registeredEarlier() ?? .problem(problem())
        case (.keyActivation, 200): return try activated(try object())
        case (.challenge, 200), (.challenge, 201): return try challenge(try object())
        case (.signature, 200): return try signature(try object())
        case (.application, 200..<300): return .content(try content(for: operation))
        // A redirect is not followed, because it may lead anywhere. Its status is reported.
        default: return .problem(problem())
        }
    }

    private func object(
        _ limits: JSONLimits = .message
    ) throws(HTTPHelperFailure) -> JSONValue {
        guard hasType("application/json") else { throw .badResponse }
        guard let object = json(limits) else { throw .badResponse }
        return object
    }

    /// The content for an application, parsed and written again by this program; `nil` if there is
    /// none.
    private func content(
        for operation: HelperRequest.Operation
    ) throws(HTTPHelperFailure) -> SecretBytes? {
        guard !body.isEmpty else { return nil }
        let content = try object(operation.jsonLimits).rendered()
        // Writing the content again can lengthen it.
        guard content.count <= ApplicationRequest.largestContent else { throw .tooLarge }
        return content
    }

    /// The body; `nil` if it is not JSON.
    private func json(_ limits: JSONLimits = .message) -> JSONValue? {
        do { return try readJSON(body.span, limits: limits) } catch { return nil }
    }

    private func hasType(_ type: String) -> Bool {
        guard let named = contentType?.lowercased() else { return false }
        return named == type || named.hasPrefix(type + ";")
    }

    private func enrolled(_ object: JSONValue) throws(HTTPHelperFailure) -> HelperResponse {
        .enrolled(
            credential: try object.token("credential"), try object.handedSecret())
    }

    private func login(_ object: JSONValue) throws(HTTPHelperFailure) -> HelperResponse {
        switch object["result"]?.string {
        case "accepted":
            guard let expiry = object["expires_at"]?.string else { throw .badResponse }
            return .accepted(
                HelperResponse.Acceptance(
                    verification: try object.token("verification"),
                    login: try object.secret("login"), expiresAt: PlainText(showing: expiry),
                    next: try object.handedSecret()))
        case "denied": return try denied(object)
        default: throw .badResponse
        }
    }

    private func denied(_ object: JSONValue) throws(HTTPHelperFailure) -> HelperResponse {
        guard let isWipe = object["wipe"]?.truth else { throw .badResponse }
        guard isWipe else { return .denied(wipe: nil) }
        guard let reason = object["wipe_reason"]?.string else { throw .badResponse }
        return .denied(wipe: HelperResponse.WipeOrder(word: reason))
    }

    private func registered(_ object: JSONValue) throws(HTTPHelperFailure) -> HelperResponse {
        let credential = try object.token("credential")
        let isPending = object["activation"] != nil
        guard credential.text.hasPrefix("cr_"),
            object["state"]?.string == (isPending ? "pending" : "active")
        else { throw .badResponse }
        guard let activation = object["activation"] else {
            return .registered(credential: credential, custody: try object.token("custody"))
        }
        let protected = KeyActivation(
            blob: try activation.bytes("blob"), seed: try activation.bytes("seed"))
        guard let protected else { throw .badResponse }
        return .keyToActivate(credential: credential, protected)
    }

    /// The key, if the server refuses the ticket but an earlier request has registered the key.
    private func registeredEarlier() throws(HTTPHelperFailure) -> HelperResponse? {
        guard hasType("application/problem+json"), let problem = json(),
            problem["type"]?.string == "urn:watchword:problem:refused-ticket",
            problem["credential"] != nil
        else { return nil }
        let credential = try problem.token("credential")
        guard credential.text.hasPrefix("cr_") else { throw .badResponse }
        return .registered(credential: credential, custody: try problem.token("custody"))
    }

    private func activated(_ object: JSONValue) throws(HTTPHelperFailure) -> HelperResponse {
        switch object["result"]?.string {
        case "accepted": return .keyActivated
        case "denied": return .denied(wipe: nil)
        default: throw .badResponse
        }
    }

    private func challenge(_ object: JSONValue) throws(HTTPHelperFailure) -> HelperResponse {
        let challenge = HelperResponse.KeyChallenge(
            token: try object.token("challenge"),
            expiry: try object.whole("expires_ms"))
        guard challenge.bytes != nil, challenge.token.text.hasPrefix("wwx_") else {
            throw .badResponse
        }
        return .challenge(challenge)
    }

    private func signature(_ object: JSONValue) throws(HTTPHelperFailure) -> HelperResponse {
        switch object["result"]?.string {
        case "accepted":
            guard let expiry = object["expires_at"]?.string else { throw .badResponse }
            return .signed(
                HelperResponse.AcceptedSignature(
                    verification: try object.token("verification"),
                    login: try object.secret("login"), expiresAt: PlainText(showing: expiry)))
        case "denied": return try denied(object)
        default: throw .badResponse
        }
    }

    private func problem() -> HelperResponse.Problem {
        // If the type cannot be read, the status is enough.
        let body = hasType("application/problem+json") ? json() : nil
        return HelperResponse.Problem(
            status: status, type: PlainText(showing: body?["type"]?.string ?? ""),
            retryAfter: max(retryAfter, 0),
            field: body?["field"]?.string.map { PlainText(showing: $0) })
    }
}

extension JSONValue {
    fileprivate func token(_ name: String) throws(HTTPHelperFailure) -> Token {
        guard let text = self[name]?.string, let token = Token(text) else { throw .badResponse }
        return token
    }

    fileprivate func secret(_ name: String) throws(HTTPHelperFailure) -> SecretBytes {
        guard let secret = self[name]?.secretText, Token.isToken(secret) else { throw .badResponse }
        return secret
    }

    fileprivate func bytes(_ name: String) throws(HTTPHelperFailure) -> [UInt8] {
        guard let text = self[name]?.string else { throw .badResponse }
        do { return try Base64URL.decode(Array(text.utf8).span) } catch { throw .badResponse }
    }

    fileprivate func whole(_ name: String) throws(HTTPHelperFailure) -> UInt64 {
        guard let number = self[name]?.wholeNumber else { throw .badResponse }
        return number
    }

    fileprivate func handedSecret() throws(HTTPHelperFailure) -> HelperResponse.NextSecret {
        HelperResponse.NextSecret(
            secret: try secret("secret"), generation: try whole("generation"))
    }
}

extension HelperRequest.Operation {
    /// The limits for the JSON of a response.
    var jsonLimits: JSONLimits {
        guard case .application = self else { return .message }
        return JSONLimits(bytes: ApplicationRequest.largestContent, depth: 8, values: 1 << 17)
    }
}
