package import LocalSockets
internal import PasskeyVerification
internal import Synchronization
package import Verification
package import WatchwordCoding
package import WatchwordCryptography

/// The HTTP API of the verifier, without sockets: requests in, responses out.
package final class Service: Sendable {
    /// The verifier for senders that are not limited to some subjects.
    let unlimited: Deciders
    let settings: ServiceSettings
    let dependencies: ServiceDependencies
    let limiter: AddressLimiter
    // Anyone can make the server write to the database through the routes of pages and of device
    // challenges. Each of the two has a separate limiter, so that pages cannot keep devices from
    // signing in.
    let pageLimiter: AddressLimiter
    let challengeLimiter: AddressLimiter
    /// The limiter for the attempts of each local user's programs, on all sockets that they can
    /// use.
    package let ownAttempts = OwnNameLimiter.ofAttempts()
    /// The limiter for all requests of each local user's programs.
    let ownRequests = OwnNameLimiter(burst: 60, interval: .seconds(1))
    let refusals: RefusalLog
    let metrics = Metrics()
    let deniedSubjects: DeniedSubjects
    /// The cause that was reported last; `nil` if the server was ready.
    let lastReadinessFailure = Mutex<String?>(nil)
    /// The rendered OpenAPI document.
    let description = OpenAPIDocument.json.rendered()

    package init(
        verifier: Verifier, settings: ServiceSettings, dependencies: ServiceDependencies
    ) {
        unlimited = Deciders(
            verifier: verifier,
            passkeys: settings.passkeys.map { Passkeys(verifier, for: $0.relyingParty) },
            deviceKeys: DeviceKeys(
                verifier, audiences: settings.audiences, trusting: settings.tpmRoots))
        self.settings = settings
        self.dependencies = dependencies
        let start = dependencies.instant()
        limiter = AddressLimiter(rate: settings.addressRate, now: start)
        pageLimiter = AddressLimiter(rate: settings.addressRate.tenth, now: start)
        challengeLimiter = AddressLimiter(rate: settings.addressRate.tenth, now: start)
        refusals = RefusalLog(start: start)
        deniedSubjects = DeniedSubjects(start: start)
    }

    /// The OpenAPI document, as returned by `GET /v1/openapi.json`.
    package static func interfaceDescription() -> SecretBytes { OpenAPIDocument.json.rendered() }

    /// Responds to a request to `/v1`, or for a page.
    ///
    /// The method never throws, and never accepts a code if the decision failed.
    ///
    /// The response to `HEAD` includes the content; the listener omits it.
    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        await respond(to: request, begin(request))
    }

    /// Responds to a request of an administrator, who can open the store and therefore has all
    /// permissions.
    ///
    /// - Parameter administrator: the administrator's name, which events record as the user agent.
    package func respond(to request: HTTPRequest, by administrator: String) async -> HTTPResponse {
        var exchange = begin(request)
        exchange.sender = .administrator(administrator)
        return await respond(to: request, exchange)
    }

    private func respond(to request: HTTPRequest, _ begun: Exchange) async -> HTTPResponse {
        var exchange = begun
        do throws(Refusal) {
            let (finding, target) = try route(request, exchange)
            switch finding {
            case .options(let methods):
                return end(exchange, allowing: methods)
            case .page(let resource):
                exchange.page = resource
                return try respond(to: request, resource, target, exchange)
            case .match(let match):
                exchange.route = match.route
                let call = try await admit(request, match, target, &exchange)
                return end(exchange, try await match.route.operation.handler(self)(call))
            }
        } catch {
            return end(exchange, error)
        }
    }

    /// The response to a request that the listener rejected: rate-limited, logged and counted like
    /// any other response.
    ///
    /// - Parameter peer: the sender. The header of such a request is not trusted, so
    ///   `X-Forwarded-For` is ignored.
    package func refuse(_ error: HTTPRequestError, peer: String) -> HTTPResponse {
        let nothing = SecretBytes(copying: [UInt8]().span)
        let request = HTTPRequest(method: "", target: "", body: nothing, peer: peer)
        let exchange = begin(request)
        return end(exchange, limited(Refusal(Problem(error)), exchange))
    }
}

/// The verifier for every subject, or for a client that is limited to some subjects.
///
/// All senders without a limit share one verifier.
final class Deciders: Sendable {
    let verifier: Verifier
    /// The passkeys for this client; `nil` if the server is not configured for passkeys.
    let passkeys: Passkeys?
    let deviceKeys: DeviceKeys

    init(verifier: Verifier, passkeys: Passkeys?, deviceKeys: DeviceKeys) {
        self.verifier = verifier
        self.passkeys = passkeys
        self.deviceKeys = deviceKeys
    }

    func limited(to subjects: SubjectPrefix) -> Deciders {
        Deciders(
            verifier: verifier.limited(to: subjects), passkeys: passkeys?.limited(to: subjects),
            deviceKeys: deviceKeys.limited(to: subjects))
    }
}
