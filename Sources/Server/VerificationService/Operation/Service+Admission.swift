internal import PasskeyVerification
internal import Verification
internal import WatchwordCoding
internal import WatchwordCryptography

/// An authorised, well-formed request.
struct Call: Sendable {
    let route: Route
    /// The parameters in the path.
    let parameters: [String: String]
    /// The parameters in the query.
    let query: BodyFields
    let fields: BodyFields
    let sender: Sender
    /// The verifier, limited to the client's subjects.
    let deciders: Deciders
    /// The sender, for the audit log.
    let origin: Origin
    /// The key under which the response is stored, if the client sent one.
    let idempotency: IdempotencyKey?
    /// The origin of the page that sent the request; `nil` for other senders.
    let page: String?

    var verifier: Verifier { deciders.verifier }
    var deviceKeys: DeviceKeys { deciders.deviceKeys }
    var client: ClientRow? { sender.client }
    var clientID: ClientID? { origin.client }

    /// The subjects that the request specifies, and the prefix of the subjects that it requests
    /// (``Route/namesSubject``).
    fileprivate var named: [String] {
        [parameters["subject"], fields.string("subject"), query.string("prefix")].compactMap(\.self)
    }

    /// Whether the sender also has this scope.
    func has(_ scope: Scope) -> Bool { sender.has(scope) }
}

extension HTTPRequest {
    /// The value of a field that may occur at most once.
    ///
    /// - Throws: A ``Refusal`` with ``Problem/malformedHeader(_:)`` if it occurs twice.
    func value(of name: String) throws(Refusal) -> String? {
        let values = headers.values(of: name)
        guard values.count <= 1 else { throw Refusal(.malformedHeader(name)) }
        return values.first
    }
}

extension Service {
    /// The maximum size of a body.
    ///
    /// The listener itself refuses requests with longer bodies.
    package static let maximumBodySize = 64 << 10

    /// Parses the target and finds the route.
    func route(
        _ request: HTTPRequest, _ exchange: Exchange
    ) throws(Refusal) -> (finding: Router.Finding, target: RequestTarget) {
        do throws(Refusal) {
            guard exchange.id != nil else { throw Refusal(.failed) }
            let target = try RequestTarget(request.target)
            if settings.pages != nil, let resource = PageResource(segments: target.segments) {
                return (.page(resource), target)
            }
            return (try Router.find(method: request.method, segments: target.segments), target)
        } catch {
            throw limited(error, exchange)
        }
    }

    /// Authorises and validates a request.
    ///
    /// Until the whole request has been validated, the client's row is the only data that is read.
    func admit(
        _ request: HTTPRequest, _ match: Router.Match, _ target: RequestTarget,
        _ exchange: inout Exchange
    ) async throws(Refusal) -> Call {
        var page: String?
        switch match.route.access {
        case .scope(let scope):
            if case .stranger = exchange.sender {
                exchange.sender = .client(try await authenticate(request, exchange))
            }
            guard exchange.sender.has(scope) else { throw Refusal(.missingScope(scope)) }
        case .device, .unprovenDevice, .browser, .everybody:
            try take(from: limiter, exchange)
            if match.route.access == .browser { page = try origin(ofPage: request) }
        }
        let query = try BodyFields(query: target.parameters, as: match.route.parameters)
        let fields = try fields(request, match.route, exchange.sender)
        let client = exchange.sender.client
        var deciders = unlimited
        if let limit = client?.subjects { deciders = unlimited.limited(to: limit) }
        let call = Call(
            route: match.route, parameters: match.parameters, query: query, fields: fields,
            sender: exchange.sender, deciders: deciders,
            origin: try origin(of: request, exchange),
            idempotency: match.route.method == .post
                ? try IdempotencyKey(of: request, asker: asker(client, fields)) : nil,
            page: page)
        if let limit = client?.subjects {
            guard call.named.allSatisfy({ limit.includes(Array($0.utf8)) }) else {
                throw Refusal(.foreignSubject)
            }
        }
        // Only valid requests count, because any web page can make a browser send invalid requests.
        switch match.route.access {
        case .browser: try take(from: pageLimiter, exchange)
        case .unprovenDevice: try take(from: challengeLimiter, exchange)
        case .scope, .device, .everybody: break
        }
        return call
    }

    private func take(from limiter: AddressLimiter, _ exchange: Exchange) throws(Refusal) {
        guard let seconds = limiter.take(exchange.address, now: dependencies.instant()) else {
            return
        }
        throw Refusal(.tooManyRequests(retryAfter: seconds))
    }

    /// The name in the audit log of an administrator, who can open the store.
    package static func userAgent(ofAdministrator name: String) -> String {
        "watchword-server (\(name))"
    }

    /// The sender, for the audit log; an administrator's name is the user agent.
    private func origin(
        of request: HTTPRequest, _ exchange: Exchange
    ) throws(Refusal) -> Origin {
        var agent = try request.value(of: "User-Agent") ?? ""
        if case .administrator(let name) = exchange.sender {
            agent = Self.userAgent(ofAdministrator: name)
        }
        return Origin(
            address: exchange.address, userAgent: agent,
            client: exchange.sender.client.flatMap { ClientID(bytes: $0.id) })
    }

    /// Requires that the request comes from a page of this server, as far as the browser states
    /// this (Fetch Standard, section 3.2).
    private func origin(ofPage request: HTTPRequest) throws(Refusal) -> String {
        guard settings.pages != nil, let passkeys = settings.passkeys else {
            throw Refusal(.notConfigured("pages"))
        }
        let origins = passkeys.relyingParty.origins
        guard let origin = try request.value(of: "Origin"),
            origins.contains(where: { $0.utf8.elementsEqual(origin.utf8) })
        else { throw Refusal(.foreignOrigin) }
        return origin
    }

    /// The namespace of the idempotency key: the API client, or a digest of the ticket, secret,
    /// ceremony or challenge that the request presents, so that one sender cannot use the key of
    /// another sender; `nil` if the sender cannot be identified.
    private func asker(_ client: ClientRow?, _ fields: BodyFields) -> [UInt8]? {
        if let client { return client.id }
        let proof = ["ticket", "secret", "ceremony", "challenge"].lazy.compactMap {
            fields.secret($0)
        }.first
        guard let proof else { return nil }
        return proof.withBytes { proof in sha256(proof) }
    }

    /// The client to which the API key belongs.
    ///
    /// All failures look the same.
    private func authenticate(
        _ request: HTTPRequest, _ exchange: Exchange
    ) async throws(Refusal) -> ClientRow {
        guard let key = request.authorization.flatMap(bearer) else {
            throw limited(Refusal(.unauthenticated), exchange)
        }
        let isLimited = limiter.isExhausted(exchange.address, now: dependencies.instant())
        let client = try await deciding(
            await unlimited.verifier.client(presenting: key, isLimited: isLimited))
        guard let client else { throw limited(Refusal(.unauthenticated), exchange) }
        return client
    }

    /// The API key after `Bearer` (RFC 6750, section 2.1).
    private func bearer(_ value: SecretBytes) -> Token? {
        value.withBytes { value in
            let scheme = Array("bearer ".utf8)
            guard value.count > scheme.count,
                scheme.indices.allSatisfy({ value[$0] | 0x20 == scheme[$0] })
            else { return nil }
            return Token(.clientKey, text: value.extracting(scheme.count...))
        }
    }

    /// Applies the address rate to a refusal, which slows down guessing and scanning.
    func limited(_ refusal: Refusal, _ exchange: Exchange) -> Refusal {
        guard let seconds = limiter.take(exchange.address, now: dependencies.instant()) else {
            return refusal
        }
        return Refusal(.tooManyRequests(retryAfter: seconds))
    }

    private func fields(
        _ request: HTTPRequest, _ route: Route, _ sender: Sender
    ) throws(Refusal) -> BodyFields {
        guard request.body.count <= Self.maximumBodySize else { throw Refusal(.bodyTooLarge) }
        guard let shape = route.body else {
            guard request.body.count == 0 else { throw Refusal(.malformedBody(at: nil)) }
            return .none
        }
        guard Self.isJSON(try request.value(of: "Content-Type") ?? "") else {
            throw Refusal(.notJSON)
        }
        return try BodyFields(request.body, as: shape, permits: sender.has)
    }

    private static func isJSON(_ type: String) -> Bool {
        if type == "application/json" { return true }
        let type = type.filter { $0 != " " && $0 != "\t" && $0 != "\"" }
        return ["application/json", "application/json;charset=utf-8"]
            .contains(where: type.isEqualIgnoringCase)
    }
}
