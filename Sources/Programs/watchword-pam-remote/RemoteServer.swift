internal import CommandLineInterface
internal import Courier
internal import JSONReading
internal import LocalSockets
internal import OneTimePassword
internal import Verification
internal import WatchwordCoding
internal import WatchwordCryptography
internal import WatchwordSystem

/// A remote server, with the API key of this machine.
struct RemoteServer {
    private let server: TrustedServer
    private let key: SecretBytes
    private let realm: Realm
    private let courier: HTTPHelper
    private let messages: CourierMessages

    private static let program = "watchword-pam-remote"
    private static let largestKeyFile = 4 << 10
    private static let largestAuthorities = 128 << 10

    /// Reads the options and the files that they name; if any is wrong, the process ends.
    init(_ options: [String: String]) {
        let address: ServerAddress
        switch ServerAddress.parse(options["--server"] ?? "") {
        case .address(let parsed): address = parsed
        case .invalid(let part):
            giveUp("server= needs \(CourierMessages.expectation(of: part))")
        }
        server = TrustedServer(address, authorities: Self.authorities(at: options["--ca"]))
        key = Self.key(at: options["--key"] ?? "")
        guard let realm = options["--realm"].map({ Realm($0) }) ?? Realm.ofThisMachine() else {
            giveUp("realm= needs a name of 1 to 63 characters from a-z, 0-9, dot and dash")
        }
        self.realm = realm
        guard let seconds = Int(options["--timeout"] ?? "10") else {
            giveUp("timeout= needs a number of seconds")
        }
        messages = CourierMessages(
            about: address, startedBy: Self.program, trusting: "use ca=FILE")
        courier = requireSuccess(of: try HTTPHelper(timeout: .seconds(seconds)), messages)
    }

    /// Asks the server; if there is no decision, the process ends.
    func response(to request: LoginRequest) -> LoginResponse {
        // A name that is not UTF-8 belongs to no account.
        guard let subject = request.user.map(realm.subject) else {
            if case .status = request.operation { return .unavailable }
            return .denied(nil)
        }
        switch request.operation {
        case .verify(let code):
            return verdict(on: code, of: subject, tellsReason: request.wantsReasons)
        case .status:
            let target = "/v1/subjects/\(subject.percentEncoded)"
            switch ask(ApplicationRequest(.get, target))["second_factor"]?.string {
            case "none": return .neverEnrolled
            case "active", "ended": return .enrolled
            default: giveUp(badResponse)
            }
        }
    }

    private func verdict(
        on code: SecretBytes, of subject: String, tellsReason: Bool
    ) -> LoginResponse {
        // For people who may not log in, sshd replaces the typed text by a text that is not a code.
        // That text takes the same time as a code of an unknown user (V-06).
        let isCode = ifPossible(try PresentedCode(code)) != nil
        let body = JSONValue.object([
            ("subject", .text(isCode ? subject : realm.nobody)),
            ("code", isCode ? .secret(code) : .text("000000")),
        ])
        let answer = ask(ApplicationRequest(.post, "/v1/verifications", body: body.rendered()))
        switch answer["result"]?.string {
        case "accepted" where isCode: return .accepted
        case "denied":
            guard tellsReason else { return .denied(nil) }
            return .denied(isCode ? Self.reason(in: answer) : .malformed)
        default: giveUp(badResponse)
        }
    }

    /// Sends a request; returns the content of the response, which the courier has written.
    private func ask(_ request: ApplicationRequest) -> JSONValue {
        let random = Randomness.bytes(count: 16)
        let sent = HelperRequest(
            server: server, idempotencyKey: Base64URL.encode(random.span), apiKey: key,
            operation: .application(request))
        switch requireSuccess(of: try courier.send(sent), messages) {
        case .content(let content?):
            guard let object = ifPossible(try readJSON(content)) else { giveUp(badResponse) }
            return object
        case .problem(let problem) where problem.kind == "missing-scope":
            giveUp("the API key lacks a scope; create a client with the scopes verify and read")
        case .problem(let problem): giveUp(messages.sentence(for: problem))
        default: giveUp(badResponse)
        }
    }

    /// The reason why a code was denied, if the API key may receive reasons.
    private static func reason(in object: JSONValue) -> LoginResponse.Reason? {
        switch object["reason"]?.string {
        case "replayed": return .replayed
        case "throttled":
            let milliseconds = object["retry_after_ms"]?.wholeNumber ?? 0
            return .mustWait(seconds: UInt32(clamping: milliseconds / 1_000 + 1))
        case "disabled": return .locked
        default: return nil
        }
    }

    private var badResponse: String { messages.sentence(for: .badResponse) }

    private static func authorities(at path: String?) -> [UInt8] {
        guard let path else { return [] }
        let read = ifPossible(
            try FileDescriptor(reading: path).bytes(atMost: largestAuthorities + 1))
        guard let read, read.count <= largestAuthorities else {
            giveUp("ca=\(path): cannot be read, or has more than 128 KiB")
        }
        return read
    }

    private static func key(at path: String) -> SecretBytes {
        guard
            var read = ifPossible(
                try Folder.readPrivateFile(at: path, limit: largestKeyFile))
        else {
            giveUp("key=\(path): not a file of root that nobody else can read or write")
        }
        let key = SecretBytes(copying: read.span).firstLine()
        for index in read.indices { read[index] = 0 }
        guard Courier.Token.isToken(key) else {
            giveUp("key=\(path): does not begin with an API key")
        }
        return key
    }
}

private func requireSuccess<Result>(
    of work: @autoclosure () throws(HTTPHelperFailure) -> Result, _ messages: CourierMessages
) -> Result {
    do { return try work() } catch { giveUp(messages.sentence(for: error)) }
}
