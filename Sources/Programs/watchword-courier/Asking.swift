internal import Courier
internal import JSONReading
internal import WatchwordCoding
internal import WatchwordCryptography
internal import WatchwordSystem

/// The data from the file system that a request needs, loaded before the process gives up access.
struct Tools: ~Copyable {
    let client: CurlHandle
    /// The certificates of the trusted authorities, in PEM.
    let authorities: [UInt8]

    /// The paths of trusted authorities on different systems, Debian's first.
    private static let systemAuthorities = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/cert.pem",
    ]
    private static let largestFile = 4 << 20

    init(for request: HelperRequest) throws(HTTPHelperFailure) {
        // The JSON library opens a source of randomness when it creates its first object.
        do { _ = try readJSON(Array("{\"a\":0}".utf8).span) } catch { throw .library(code: 0) }
        // The memory for secrets is locked when the first secret is created, and the first one may
        // be in the response.
        _ = SecretBytes(copying: [0].span)
        let server = request.server
        let isSystem = server.address.scheme == .https && server.authorities.isEmpty
        let authorities = isSystem ? try Tools.ofSystem() : server.authorities
        client = try CurlHandle()
        self.authorities = authorities
    }

    private static func ofSystem() throws(HTTPHelperFailure) -> [UInt8] {
        for path in systemAuthorities {
            do throws(SystemCallFailure) {
                let file = try FileDescriptor(reading: path)
                return try [UInt8](capacity: largestFile) { output throws(SystemCallFailure) in
                    try file.readToEnd(into: &output)
                }
            } catch {
                guard error.isMissing else { throw .helper(.system(error)) }
            }
        }
        throw .authorities
    }
}

extension HelperRequest.Operation {
    /// The limits for a response; typical responses to a device have a few hundred bytes.
    fileprivate var limits: HTTPLimits {
        HTTPLimits(
            timeout: .seconds(20), headerBytes: 32 << 10, bodyBytes: jsonLimits.bytes)
    }
}

/// The `User-Agent`, which servers may record.
private let userAgent = "watchword/\(ProgramVersion.text)"

/// Sends the request to the server at the other end of `connection`.
func ask(
    _ request: HelperRequest, with tools: consuming Tools, over connection: borrowing FileDescriptor
) throws(HTTPHelperFailure) -> HelperResponse {
    let curlRequest = CurlRequest(
        method: request.operation.method, server: request.server.address,
        path: request.operation.path,
        headers: [
            ("Content-Type", "application/json"), ("Accept", "application/json"),
            ("User-Agent", userAgent), ("Idempotency-Key", request.idempotencyKey),
        ] + request.authorization,
        body: request.operation.body(for: request.server.address))
    let authorities = tools.authorities
    let response = try tools.client.send(
        curlRequest, over: connection, authorities: authorities, limits: request.operation.limits)
    return try response.parsed(for: request.operation)
}

extension HelperRequest {
    // Like the body, the header holds the secret in ordinary memory.
    fileprivate var authorization: [(name: String, value: String)] {
        guard let apiKey else { return [] }
        let key = apiKey.withBytes { String(decoding: [UInt8](copying: $0), as: UTF8.self) }
        return [("Authorization", "Bearer \(key)")]
    }
}

extension HelperRequest.Operation {
    fileprivate var path: String {
        switch self {
        case .enrolment: "/v1/device/enrolments"
        case .login: "/v1/device/logins"
        case .keyRegistration: "/v1/device/keys"
        case .keyActivation: "/v1/device/keys/activation"
        case .challenge: "/v1/device/challenges"
        case .signature: "/v1/device/signatures"
        case .application(let request): request.target
        }
    }

    fileprivate var method: String {
        if case .application(let request) = self { request.method.name } else { "POST" }
    }

    // The body holds the secret in ordinary memory: the process does nothing else, is confined,
    // cannot be dumped, and ends soon.
    fileprivate func body(for server: ServerAddress) -> [UInt8]? {
        let body: SecretBytes
        if case .application(let request) = self {
            guard let given = request.body else { return request.method == .post ? [] : nil }
            body = given
        } else {
            body = JSONValue.object(members(for: server)).rendered()
        }
        return body.withBytes { bytes in [UInt8](copying: bytes) }
    }

    /// The members of a device's request.
    private func members(for server: ServerAddress) -> [(String, JSONValue)] {
        switch self {
        case .enrolment(let ticket, let deviceName, let custody):
            (custody.map { [("custody", .text($0.rawValue))] } ?? [])
                + (deviceName.isEmpty ? [] : [("name", .text(deviceName))])
                + [("ticket", .secret(ticket)), ("user_agent", .text(userAgent))]
        case .login(let login):
            [
                ("credential", .text(login.credential.text)),
                ("rotation_nonce", .text(login.nonce.text)), ("secret", .secret(login.secret)),
            ]
        case .keyRegistration(let registration, let point, let isInTPM):
            Self.members(of: registration, point: point, isInTPM: isInTPM)
        case .keyActivation(let credential, let secret):
            [("credential", .text(credential.text)), ("secret", .secret(secret))]
        case .challenge(let credential): [("credential", .text(credential.text))]
        case .signature(let signature):
            [
                ("audience", .text(server.audience)),
                ("challenge", .text(signature.challenge.text)),
                ("credential", .text(signature.credential.text)),
                ("presence", .text(signature.presence.word)),
                ("purpose", .text(signature.confirmsText ? "confirm" : "sign-in")),
                ("signature", .text(Base64URL.encode(signature.signature.span))),
            ]
        case .application: []
        }
    }

    /// Only data that the device has stored: a repeated registration has the same body, even if a
    /// different version of the program sends it.
    private static func members(
        of registration: HelperRequest.KeyRegistration, point: [UInt8], isInTPM: Bool
    ) -> [(String, JSONValue)] {
        let name = registration.deviceName
        let attestation = registration.attestation.map { [("attestation", json($0))] } ?? []
        return attestation + (name.isEmpty ? [] : [("name", .text(name))]) + [
            ("custody", .text(isInTPM ? "tpm" : "vault")),
            ("presence", .text(registration.presence.word)),
            ("public_key", .text(Base64URL.encode(point.span))),
            ("signature", .text(Base64URL.encode(registration.signature.span))),
            ("ticket", .secret(registration.ticket)),
        ]
    }

    private static func json(_ attestation: KeyAttestation) -> JSONValue {
        func text(_ bytes: [UInt8]) -> JSONValue { .text(Base64URL.encode(bytes.span)) }
        return .object([
            ("attestation_key", text(attestation.attestationKey)),
            ("certificates", .list(attestation.certificates.map(text))),
            ("certification", text(attestation.certification)),
            ("device_key", text(attestation.deviceKey)),
            ("endorsement_key", text(attestation.endorsementKey)),
            ("signature", text(attestation.signature)),
        ])
    }
}
