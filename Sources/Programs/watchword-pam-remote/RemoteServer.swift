internal import CommandLineInterface
internal import Courier
internal import JSONReading
internal import LocalSockets
internal import OneTimePassword
internal import WatchwordCoding
internal import WatchwordCryptography
internal import WatchwordSystem

/// A remote server, with the API key of this machine.
struct RemoteServer {
    private let server: TrustedServer
    private let key: SecretBytes
    private let realm: Realm
    private let courier: HTTPHelper

    private static let program = "watchword-pam-remote"
    private static let largestKeyFile = 4 << 10
    private static let largestAuthorities = 128 << 10

    /// Reads the options and the files that they name; if one is wrong, the process ends.
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
        courier = Self.requireSuccess(of: try HTTPHelper(timeout: .seconds(seconds)))
    }

    /// Asks the server; if there is no decision, the process ends.
    func response(to request: LoginRequest) -> LoginResponse {
        // A name that is not UTF-8 is nobody's.
        guard let subject = request.user.map(realm.subject) else {
            if case .status = request.operation { return .unavailable }
            return .denied(nil)
        }
        switch request.operation {
        case .verify(let code):
            let answer = ask(
                ApplicationRequest(
                    .post, "/v1/verifications",
                    body: JSONValue.object([
                        ("subject", .text(subject)), ("code", .secret(code)),
                    ]).rendered()))
            return verdict(answer, tellsReason: request.wantsReasons)
        case .status:
            let path = "/v1/subjects/\(subject.percentEncoded)"
            guard case .content(let content) = ask(ApplicationRequest(.get, path)) else {
                giveUp("the server does not tell who has a second factor")
            }
            switch Self.json(content)["second_factor"]?.string {
            case "none": return .neverEnrolled
            case "active", "ended": return .enrolled
            default: giveUp(Self.badResponse)
            }
        }
    }

    private static func requireSuccess<Result>(
        of work: @autoclosure () throws(HTTPHelperFailure) -> Result
    ) -> Result {
        do { return try work() } catch {
            giveUp(CourierMessages.sentence(for: error, startedBy: program))
        }
    }

    private enum Answer {
        case content(SecretBytes?)
        /// The code has no known form.
        case malformedCode
    }

    private func ask(_ request: ApplicationRequest) -> Answer {
        let random = Randomness.bytes(count: 16)
        let sent = HelperRequest(
            server: server, idempotencyKey: Base64URL.encode(random.span), apiKey: key,
            operation: .application(request))
        switch Self.requireSuccess(of: try courier.send(sent)) {
        case .content(let content): return .content(content)
        // The code is the only field that a person fills in.
        case .problem(let problem) where problem.type.text == "urn:watchword:problem:invalid-field":
            return .malformedCode
        case .problem(let problem): giveUp(CourierMessages.sentence(for: problem))
        default: giveUp(Self.badResponse)
        }
    }

    private func verdict(_ answer: Answer, tellsReason: Bool) -> LoginResponse {
        guard case .content(let content) = answer else {
            return .denied(tellsReason ? .malformed : nil)
        }
        let object = Self.json(content)
        switch object["result"]?.string {
        case "accepted": return .accepted
        case "denied": return .denied(tellsReason ? Self.reason(in: object) : nil)
        default: giveUp(Self.badResponse)
        }
    }

    /// Why a code was denied, if the API key may learn it.
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

    private static let badResponse =
        "the response is invalid; check that server= is the address of a Watchword server"

    /// The content, which the courier has written.
    private static func json(_ content: SecretBytes?) -> JSONValue {
        guard let content, let object = ifPossible(try readJSON(content)) else {
            giveUp(badResponse)
        }
        return object
    }

    private static func authorities(at path: String?) -> [UInt8] {
        guard let path else { return [] }
        let read = ifPossible(
            try FileDescriptor(reading: path).bytes(atMost: largestAuthorities))
        guard let read else { giveUp("ca=\(path): cannot be read") }
        return read
    }

    private static func key(at path: String) -> SecretBytes {
        guard
            var read = ifPossible(
                try Folder.readPrivateFile(at: path, limit: largestKeyFile))
        else {
            giveUp("key=\(path): not a file of root that nobody else can read or write")
        }
        let line = read.prefix { $0 != UInt8(ascii: "\n") }
        let key = SecretBytes(copying: read.span.extracting(0..<line.count))
        for index in read.indices { read[index] = 0 }
        guard Token.isToken(key) else { giveUp("key=\(path): does not begin with an API key") }
        return key
    }
}
