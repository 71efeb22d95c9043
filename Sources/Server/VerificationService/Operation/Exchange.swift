internal import LocalSockets
internal import Verification
internal import WatchwordCoding
internal import WatchwordCryptography

/// One request from its arrival to its response, with the facts that its log line needs.
struct Exchange: Sendable {
    /// When the request arrived.
    let began: ContinuousClock.Instant
    /// The request id; `nil` if no random bytes were available.
    let id: String?
    var address: String
    /// The method, if any route supports it.
    let method: Method?
    /// The route, once it has been found.
    var route: Route?
    /// The page or file, if a browser asked for one.
    var page: PageResource?
    /// The sender of the request, as far as it is known.
    var sender = Sender.stranger
    /// The socket, if a program on this machine sent the request.
    var socket: LoginSocket?
}

/// The sender of a request.
enum Sender: Sendable {
    /// A sender without an API key: a device, a browser, or a client that is not authenticated yet.
    case stranger
    /// An API client, by its row.
    case client(ClientRow)
    /// An administrator: a person who can open the store, by name.
    case administrator(String)

    var client: ClientRow? {
        if case .client(let client) = self { client } else { nil }
    }

    /// Whether the sender may use routes and fields with this scope.
    func has(_ scope: Scope) -> Bool {
        switch self {
        case .stranger: false
        case .client(let client): client.scopes.contains(scope.rawValue)
        case .administrator: true
        }
    }
}

extension Exchange {
    /// Whether anyone could cause this response any number of times: no API key, secret, ticket or
    /// passkey was accepted.
    ///
    /// An ``Access/unprovenDevice`` has proved nothing: the only success of such a device is a
    /// challenge (“made”).
    fileprivate func isUnauthenticated(_ status: Status, _ outcome: String) -> Bool {
        guard case .stranger = sender else { return false }
        // Only programs of root use the other socket.
        if let socket { return socket == .own && outcome != "accepted" }
        let isProof = [.device, .browser].contains(route?.access) && outcome != "made"
        return status.isProblem || !isProof || outcome == "denied"
    }
}

extension Service {
    func begin(_ request: HTTPRequest) -> Exchange {
        metrics.begin()
        return Exchange(
            began: dependencies.instant(), id: requestID(),
            address: settings.trustedProxies.clientAddress(of: request),
            method: Method(rawValue: request.method))
    }

    func begin(on socket: LoginSocket) -> Exchange {
        metrics.begin()
        return Exchange(
            began: dependencies.instant(), id: requestID(), address: "", method: nil, socket: socket
        )
    }

    /// Logs the exchange and builds the response.
    func end(
        _ exchange: Exchange, _ response: RenderedResponse, headers: [HTTPField] = []
    ) -> HTTPResponse {
        note(exchange, response.status, outcome: response.outcome, cause: nil)
        var fields = common(exchange)
        if response.body.count > 0 { fields.append(contentType(of: response.status)) }
        return HTTPResponse(
            status: response.status.rawValue, headers: fields + headers, body: response.body,
            isAuthenticated: exchange.sender.client != nil)
    }

    /// Logs the exchange and builds the response with the methods of a path.
    func end(_ exchange: Exchange, allowing methods: [Method]) -> HTTPResponse {
        let allowed = methods.map(\.rawValue).joined(separator: ", ")
        return end(exchange, .done, headers: [HTTPField("Allow", allowed)])
    }

    /// Logs the exchange and builds the response for a browser.
    func end(_ exchange: Exchange, _ content: [UInt8], headers: [HTTPField]) -> HTTPResponse {
        note(exchange, .ok, outcome: "page", cause: nil)
        return HTTPResponse(
            status: Status.ok.rawValue, headers: common(exchange) + headers,
            body: SecretBytes(copying: content.span))
    }

    /// Logs the exchange and builds the response with the problem.
    func end(_ exchange: Exchange, _ refusal: Refusal) -> HTTPResponse {
        let problem = refusal.problem
        note(exchange, problem.status, outcome: problem.name, cause: refusal.cause)
        return HTTPResponse(
            status: problem.status.rawValue,
            headers: common(exchange) + [contentType(of: problem.status)] + problem.headers,
            body: problem.json.rendered(), isAuthenticated: exchange.sender.client != nil)
    }

    /// Logs the exchange and builds the response for a program on this machine.
    func end(_ exchange: Exchange, _ response: LoginResponse, outcome: String) -> [UInt8] {
        note(exchange, .ok, outcome: outcome, cause: nil)
        return response.bytes
    }

    /// Logs the exchange, and builds the response for a program on this machine whose request was
    /// not decided; `nil` if the request was malformed.
    func endLogin(_ exchange: Exchange, _ refusal: Refusal) -> [UInt8]? {
        let problem = refusal.problem
        note(exchange, problem.status, outcome: problem.name, cause: refusal.cause)
        return problem == .malformedRequest ? nil : LoginResponse.unavailable.bytes
    }

    private func contentType(of status: Status) -> HTTPField {
        HTTPField(
            "Content-Type", status.isProblem ? "application/problem+json" : "application/json")
    }

    /// Responses may contain secrets, so no cache may store them (RFC 9111, section 5.2.2.5).
    private func common(_ exchange: Exchange) -> [HTTPField] {
        [
            HTTPField("Cache-Control", "no-store"),
            HTTPField("X-Content-Type-Options", "nosniff"),
            HTTPField("Request-Id", exchange.id ?? "rq_----------------"),
        ] + (settings.usesTLS ? [Self.strictTransport] : [])
    }

    /// A year (RFC 6797): long enough for people who sign in rarely.
    ///
    /// Subdomains and the browsers' preload lists are up to the owner of the domain. Without TLS,
    /// the field would be ignored (section 8.1), and a proxy that terminates TLS sets the field.
    private static let strictTransport = HTTPField("Strict-Transport-Security", "max-age=31536000")

    private func note(
        _ exchange: Exchange, _ status: Status, outcome: String, cause: String?
    ) {
        let passed = (dependencies.instant() - exchange.began).components
        let microseconds = passed.seconds * 1_000_000 + passed.attoseconds / 1_000_000_000_000
        metrics.end(
            operation: exchange.route?.operation.id ?? exchange.socket?.rawValue ?? "none",
            status: status.rawValue,
            outcome: outcome, microseconds: microseconds)
        let line = LogLine(
            time: dependencies.now(), requestID: exchange.id ?? "",
            method: exchange.method?.rawValue ?? (exchange.socket == nil ? "other" : "local"),
            route: exchange.route?.template ?? exchange.page?.rawValue ?? exchange.socket?.rawValue,
            status: status.rawValue, outcome: outcome, client: exchange.sender.client?.name,
            address: Origin(address: exchange.address).address, duration: microseconds,
            cause: cause)
        let written =
            exchange.isUnauthenticated(status, outcome)
            ? refusals.enter(line, at: dependencies.instant()) : line
        if let written { dependencies.log(written) }
    }

    /// Logs the requests that were only counted.
    ///
    /// Call this method once a minute and at shutdown.
    ///
    /// - Parameter atEnd: `true` at shutdown, to include the current minute.
    package func logCountedRefusals(atEnd: Bool = false) {
        for line in refusals.takeDue(at: dependencies.instant(), all: atEnd) {
            dependencies.log(line)
        }
    }

    private func requestID() -> String? {
        let bytes = dependencies.randomness.bytes(12)
        return "rq_" + Base64URL.encode(bytes.span)
    }
}
