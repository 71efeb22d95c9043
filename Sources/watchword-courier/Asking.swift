internal import Courier
internal import Cryptography
internal import HTTPClient
internal import JSONReading
internal import JSONText
internal import POSIX

/// What asking needs of the file system, loaded before the process gives that up.
struct Tools: ~Copyable {
    let client: HTTPClient
    /// The certificates to go by, in PEM.
    let authorities: [UInt8]

    /// Where systems keep the authorities that they trust; Debian's place first.
    private static let systemAuthorities = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/cert.pem",
    ]
    private static let largestFile = 4 << 20

    init(for errand: Errand) throws(CourierFailure) {
        // The JSON library opens a file for chance at its first object.
        do { _ = try readJSON(Array("{\"a\":0}".utf8).span) } catch { throw .library(code: 0) }
        let isSystem = errand.server.scheme == .https && errand.authorities.isEmpty
        let authorities = isSystem ? try Tools.ofSystem() : errand.authorities
        client = try Tools.makeClient()
        self.authorities = authorities
    }

    private static func makeClient() throws(CourierFailure) -> HTTPClient {
        do throws(HTTPFailure) { return try HTTPClient() } catch { throw CourierFailure(error) }
    }

    private static func ofSystem() throws(CourierFailure) -> [UInt8] {
        for path in systemAuthorities {
            do throws(SystemCallFailure) {
                let file = try FileDescriptor(reading: path)
                return try [UInt8](capacity: largestFile) { output throws(SystemCallFailure) in
                    try file.readToEnd(into: &output)
                }
            } catch  where error.meansMissing {
                continue
            } catch {
                throw .system(error)
            }
        }
        throw .authorities
    }
}

/// How much is taken from a server; an answer is some hundred bytes.
private let limits = HTTPLimits(timeout: .seconds(20), headerBytes: 32 << 10, bodyBytes: 64 << 10)

/// Puts the question to the server at the other end of `connection`.
func ask(
    _ errand: Errand, with tools: consuming Tools, over connection: borrowing FileDescriptor
) throws(CourierFailure) -> CourierAnswer {
    let server = errand.server
    let request = HTTPRequest(
        scheme: server.scheme == .https ? .https : .http, host: server.bracketedHost,
        port: server.port, path: server.prefix + errand.question.path,
        headers: [
            ("Content-Type", "application/json"), ("Accept", "application/json"),
            ("User-Agent", "watchword/0.1.0"), ("Idempotency-Key", errand.idempotencyKey),
        ], body: errand.question.body)
    let authorities = tools.authorities
    let response: HTTPResponse
    do throws(HTTPFailure) {
        response = try tools.client.send(
            request, over: connection, authorities: authorities, limits: limits)
    } catch {
        throw CourierFailure(error)
    }
    return try response.answer(to: errand.question)
}

extension Errand.Question {
    fileprivate var path: String {
        switch self {
        case .enrolment: "/v1/device/enrolments"
        case .login: "/v1/device/logins"
        }
    }

    // The body holds the secret, in ordinary memory: the process does nothing else, is confined, cannot
    // be dumped, and ends soon.
    fileprivate var body: [UInt8] {
        let members: [(String, JSONValue)] =
            switch self {
            case .enrolment(let ticket, ""):
                [("ticket", .secret(ticket)), ("user_agent", .text("watchword/0.1.0"))]
            case .enrolment(let ticket, let deviceName):
                [
                    ("name", .text(deviceName)), ("ticket", .secret(ticket)),
                    ("user_agent", .text("watchword/0.1.0")),
                ]
            case .login(let login):
                [
                    ("credential", .text(login.credential.text)),
                    ("rotation_nonce", .text(login.nonce.text)), ("secret", .secret(login.secret)),
                ]
            }
        return JSONValue.object(members).rendered().withBytes { bytes in
            [UInt8](copying: bytes)
        }
    }
}

extension CourierFailure {
    init(_ failure: HTTPFailure) {
        self =
            switch failure {
            case .certificate(let fault): .certificate(CertificateFault(fault))
            case .handshake: .handshake
            case .authorities: .authorities
            case .timedOut: .timedOut
            case .connectionLost: .connectionLost
            case .notHTTP: .badAnswer
            case .tooLarge: .tooLarge
            case .outOfMemory: .library(code: 0)
            case .library(let code): .library(code: code)
            }
    }
}

extension CourierFailure.CertificateFault {
    fileprivate init(_ fault: HTTPFailure.CertificateFault) {
        self =
            switch fault {
            case .unknownAuthority: .unknownAuthority
            case .expired: .expired
            case .notYetValid: .notYetValid
            case .otherHost: .otherHost
            case .other: .other
            }
    }
}
