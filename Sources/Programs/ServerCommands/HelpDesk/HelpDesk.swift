import CommandLineInterface
import Courier
import JSONReading
import OneTimePassword
import Synchronization
import Verification
import VerificationService
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// The place where a help desk's requests are decided: the API of a server, or the store in this
/// process.
///
/// Both have the same routes, so commands need not distinguish them. Events name the sender of a
/// request: over the API, the client; on the store, the person who runs the command.
struct HelpDesk: Sendable {
    private enum Way: Sendable {
        case server(RemoteServer)
        case store(ServerContext, LocalService)
    }

    private let way: Way

    /// The limits for a response, which contains at most one page.
    private static let limits = JSONLimits(bytes: 16 << 20, depth: 8, values: 1 << 20)

    /// Opens the store, or prepares requests to the server that `--server` names.
    init(_ arguments: ServerArguments) throws {
        if let server = try RemoteServer.named(by: arguments) {
            way = .server(server)
            return
        }
        // Opening the store may change the user that the process runs as.
        let administrator = Administrator.name
        let context = try ServerContext.open(ServerPaths(arguments), making: false)
        way = .store(context, LocalService(context.verifier, administrator: administrator))
    }

    /// Finishes pending work and closes the store.
    func close() { if case .store(let context, _) = way { context.close() } }

    /// Sends a request.
    ///
    /// - Returns: the content of the response, if it has any.
    /// - Throws: ``ServerFailure/problem(_:at:)`` if the response is a problem.
    func ask(
        _ method: ApplicationRequest.Method, _ target: String, _ body: JSONValue? = nil
    ) async throws -> JSONValue? {
        let request = ApplicationRequest(method, target, body: body?.rendered())
        // Input from people is short, but a server can send any text as the next page.
        guard request.isValid else { throw ServerFailure.badResponse }
        let content =
            switch way {
            case .server(let server): try server.content(of: request)
            case .store(_, let service): try await service.content(of: request)
            }
        return try content.map(Self.json)
    }

    /// Sends requests for a page and all later pages.
    ///
    /// - Parameters:
    ///   - list: the member with the page's elements.
    ///   - next: the member with the position of the next page; on the last page, it is missing or
    ///     has the page's own position.
    ///   - take: receives the elements of each page.
    func pages(
        _ path: String, _ query: [(String, String?)] = [], of list: String, next: String = "next",
        _ take: ([JSONValue]) throws -> Void
    ) async throws {
        var after: String?
        repeat {
            let target = path + Self.query(query + [("after", after)])
            guard let page = try await ask(.get, target), let elements = page[list]?.elements else {
                throw ServerFailure.badResponse
            }
            try take(elements)
            let place = page[next].flatMap { $0.string ?? $0.wholeNumber.map { "\($0)" } }
            after = place == after ? nil : place
        } while after != nil
    }

    /// The path of a resource of a subject.
    static func path(of subject: Subject, _ rest: String) -> String {
        "/v1/subjects/\(subject.text.percentEncoded)/\(rest)"
    }

    /// The valid form of a subject or of a subject's beginning.
    static let expectedSubject = "text of 1 to \(Subject.maximumCount) bytes"

    static func json(_ content: SecretBytes) throws -> JSONValue {
        try replacingErrors(
            of: readJSON(content, limits: limits), with: ServerFailure.badResponse)
    }

    private static func query(_ parameters: [(String, String?)]) -> String {
        let given = parameters.compactMap { name, value in
            value.map { "\(name)=\($0.percentEncoded)" }
        }
        return given.isEmpty ? "" : "?" + given.joined(separator: "&")
    }
}

extension ServerSession {
    /// The subject in the operand.
    func subject() throws(UsageError) -> Subject {
        guard let subject = Subject(operand) else {
            throw .badOperand("NAME", expected: HelpDesk.expectedSubject)
        }
        return subject
    }
}

/// A server, with the API key for the help desk.
struct RemoteServer: Sendable {
    private let courier: HTTPHelper
    private let server: TrustedServer
    private let key: SecretBytes

    private static let largestKeyFile = 4 << 10
    private static let largestAuthorities = 128 << 10

    /// Reads the options; `nil` without `--server`.
    static func named(by arguments: ServerArguments) throws -> RemoteServer? {
        guard let url = arguments[.server] else {
            for option in [Option.apiKeyFile, .caFile] where arguments.has(option) {
                throw UsageError.needs(option.name, with: Option.server.name)
            }
            return nil
        }
        for option in [Option.store, .keys] where arguments.given(option) != nil {
            throw UsageError.conflict(Option.server.name, option.name)
        }
        guard let keyFile = arguments[.apiKeyFile] else {
            throw UsageError.needs(Option.server.name, with: Option.apiKeyFile.name)
        }
        let address: ServerAddress
        switch ServerAddress.parse(url) {
        case .address(let parsed): address = parsed
        case .invalid(let part):
            throw UsageError.badValue(
                Option.server.name, expected: CourierMessages.expectation(of: part))
        }
        var authorities: [UInt8] = []
        if let path = arguments[.caFile] {
            authorities = try InputBytes.of(path, limit: largestAuthorities)
                .withBytes { bytes in [UInt8](copying: bytes) }
        }
        let key = try InputBytes.of(keyFile, limit: largestKeyFile).firstLine()
        guard Courier.Token.isToken(key) else { throw ServerFailure.notAnAPIKey(keyFile) }
        return RemoteServer(
            courier: try HTTPHelper(), server: TrustedServer(address, authorities: authorities),
            key: key)
    }

    /// Sends a request once.
    ///
    /// - Returns: the content of the response, if it has any.
    func content(of request: ApplicationRequest) throws -> SecretBytes? {
        let random = Randomness.bytes(count: 16)
        let sent = HelperRequest(
            server: server, idempotencyKey: Base64URL.encode(random.span), apiKey: key,
            operation: .application(request))
        switch try naming(courier.send(sent), { .request($0, at: server.address) }) {
        case .content(let content): return content
        case .problem(let problem):
            throw ServerFailure.problem(problem, at: server.address)
        default: throw ServerFailure.badResponse
        }
    }
}

/// The routes of the API on a store that this process has opened.
struct LocalService: Sendable {
    private let service: Service
    private let administrator: String
    private let log: FailureLog

    /// Stores the cause of the last failure, which the response does not contain.
    private final class FailureLog: Sendable {
        private let cause = Mutex<String?>(nil)
        var last: String? { cause.withLock { $0 } }
        func enter(_ line: LogLine) { cause.withLock { $0 = line.cause } }
    }

    init(_ verifier: Verifier, administrator: String) {
        self.administrator = administrator
        let log = FailureLog()
        self.log = log
        service = Service(
            verifier: verifier,
            settings: ServiceSettings(
                clock: ClockRequirement(
                    profile: Policy.standard.profile, keeper: .administrator)),
            dependencies: ServiceDependencies(
                now: ServerContext.now, clockState: { .unknown }, log: log.enter))
    }

    /// Performs a request.
    ///
    /// - Returns: the content of the response, if it has any.
    func content(of request: ApplicationRequest) async throws -> SecretBytes? {
        let nothing = SecretBytes(copying: [UInt8]().span)
        let type = HTTPField("Content-Type", "application/json")
        let response = await service.respond(
            to: HTTPRequest(
                method: request.method.name, target: request.target,
                headers: request.body == nil ? [] : [type], body: request.body ?? nothing,
                peer: ""), by: administrator)
        guard response.status >= 400 else { return response.body.count > 0 ? response.body : nil }
        if let cause = log.last { throw ServerFailure.failedHere(cause) }
        let problem = try HelpDesk.json(response.body)["type"]?.string ?? ""
        throw ServerFailure.problem(
            HelperResponse.Problem(
                status: response.status, type: PlainText(showing: problem), retryAfter: 0), at: nil)
    }
}

/// The person who runs a command.
enum Administrator {
    /// The name for the audit log: the user who called sudo or, without sudo, the user of the
    /// process.
    ///
    /// The name that sudo sets is used only if the process runs as root. Anybody who can open the
    /// store can write any event, so the name is a help for honest people and no proof.
    static var name: String {
        let user = CurrentProcess.realUser
        if user == 0, let caller = Environment.value("SUDO_USER") { return caller }
        return UserDatabase.name(of: user) ?? "user \(user)"
    }

    /// The origin of changes that a command makes on the store.
    static var origin: Origin {
        Origin(address: "", userAgent: Service.userAgent(ofAdministrator: name))
    }
}
