import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import Courier

/// The messages between `watchword` and `watchword-courier`.
struct CourierMessageTests {
    private static let secret = SecretBytes(text: "wws_a-secret")

    private static func token(_ text: String = "cr_a") throws -> Token {
        try #require(Token(text))
    }

    private static func attestation() throws -> KeyAttestation {
        try #require(
            KeyAttestation(
                certificates: [[1], [2, 3]], endorsementKey: [4], attestationKey: [5],
                deviceKey: [6], certification: [7], signature: [8]))
    }

    private static func request(
        _ operation: HelperRequest.Operation, authorities: [UInt8] = [1, 2],
        apiKey: SecretBytes? = nil
    ) throws -> HelperRequest {
        HelperRequest(
            server: TrustedServer(
                try #require(ServerAddress("https://a.example:8443/x")), authorities: authorities),
            idempotencyKey: "the-key", apiKey: apiKey, operation: operation)
    }

    private static func registration(
        point: [UInt8] = [1, 2], signature: [UInt8] = [3], deviceName: String = "é",
        attestation: KeyAttestation? = nil
    ) -> HelperRequest.Operation {
        .keyRegistration(
            HelperRequest.KeyRegistration(
                ticket: secret, presence: .cryptographic, deviceName: deviceName,
                signature: signature, attestation: attestation), point: point, isInTPM: true)
    }

    @Test("each request decodes unchanged, and other bytes are refused")
    func requests() throws {
        let token = try Self.token()
        let nonce = try #require(RotationNonce(Array(0..<16)))
        let operations: [HelperRequest.Operation] = [
            .enrolment(ticket: Self.secret, deviceName: "attic"),
            .enrolment(ticket: Self.secret, deviceName: "", custody: .file),
            .login(HelperRequest.Login(credential: token, secret: Self.secret, nonce: nonce)),
            Self.registration(), Self.registration(attestation: try Self.attestation()),
            .keyActivation(credential: token, secret: Self.secret), .challenge(credential: token),
            .signature(
                HelperRequest.KeySignature(
                    credential: token, challenge: try Self.token("wwx_b"), confirmsText: true,
                    presence: .cryptographic, signature: [1, 2])),
            .application(ApplicationRequest(.get, "/v1/subjects?prefix=a%2F")),
            .application(
                ApplicationRequest(.post, "/v1/x", body: SecretBytes(text: #"{"code":"1"}"#))),
            .application(ApplicationRequest(.delete, "/")),
        ]
        for operation in operations {
            try MessageForm.check(try Self.request(operation))
            try MessageForm.check(try Self.request(operation, apiKey: Self.secret))
        }
    }

    @Test("a request whose fields are too long is refused")
    func limits() throws {
        func requests(_ more: Int) throws -> [HelperRequest] {
            let token = SecretBytes(text: String(repeating: "a", count: Token.longest + more))
            let name = String(repeating: "n", count: HelperProtocol.longestText + more)
            let key = [UInt8](repeating: 1, count: HelperProtocol.longestKey + more)
            let target = String(repeating: "t", count: HelperProtocol.longestTarget - 1 + more)
            let body = String(repeating: "b", count: HelperProtocol.longestTarget + more)
            let authorities = [UInt8](
                repeating: 1, count: HelperProtocol.largestAuthorities + more)
            return [
                try Self.request(.enrolment(ticket: token, deviceName: "")),
                try Self.request(.enrolment(ticket: Self.secret, deviceName: name)),
                try Self.request(Self.registration(point: key)),
                try Self.request(Self.registration(signature: key)),
                try Self.request(Self.registration(deviceName: name)),
                try Self.request(
                    .challenge(credential: try Self.token()), authorities: authorities),
                try Self.request(.challenge(credential: try Self.token()), apiKey: token),
                try Self.request(.application(ApplicationRequest(.get, "/" + target))),
                try Self.request(
                    .application(ApplicationRequest(.post, "/", body: SecretBytes(text: body)))),
            ]
        }
        for request in try requests(0) {
            let bytes = try MessageForm.bytes(of: request)
            #expect(request.fits && MessageForm.read(bytes, as: HelperRequest.self) != nil)
            #expect(bytes.count <= HelperProtocol.largestRequest)
        }
        for request in try requests(1) {
            let bytes = try MessageForm.bytes(of: request)
            #expect(!request.fits && MessageForm.read(bytes, as: HelperRequest.self) == nil)
        }
        for operation in [
            HelperRequest.Operation.enrolment(ticket: SecretBytes(text: "a b"), deviceName: ""),
            .application(ApplicationRequest(.get, "/a b")),
            .application(ApplicationRequest(.get, "/a\r\nb")),
            .application(ApplicationRequest(.get, "a")),
        ] {
            let bytes = try MessageForm.bytes(of: try Self.request(operation))
            #expect(MessageForm.read(bytes, as: HelperRequest.self) == nil)
        }
    }

    @Test("each response decodes unchanged, and other bytes are refused")
    func responses() throws {
        let token = try Self.token()
        let next = HelperResponse.NextSecret(secret: Self.secret, generation: .max)
        let time = PlainText(showing: "2026-11-21T21:00:00Z")
        let activation = try #require(KeyActivation(blob: [1], seed: [2, 3]))
        var responses: [HelperResponse] = [
            .enrolled(credential: token, next),
            .accepted(
                HelperResponse.Acceptance(
                    verification: token, login: Self.secret, expiresAt: time, next: next)),
            .registered(credential: token, custody: try Self.token("tpm")),
            .keyToActivate(credential: token, activation), .keyActivated,
            .challenge(HelperResponse.KeyChallenge(token: token, expiry: 1_800_000_000_000)),
            .signed(
                HelperResponse.AcceptedSignature(
                    verification: token, login: Self.secret, expiresAt: time)),
            .problem(
                HelperResponse.Problem(
                    status: 429, type: PlainText(showing: "é"), retryAfter: 1 << 20)),
            .problem(
                HelperResponse.Problem(
                    status: 400, type: PlainText(showing: "a"), retryAfter: 0,
                    field: PlainText(showing: "ticket"))),
            .denied(wipe: nil), .content(nil), .content(SecretBytes(text: "{}")),
        ]
        responses += HelperResponse.WipeOrder.allCases.map { .denied(wipe: $0) }
        for response in responses { try MessageForm.check(ResponseFrame(.success(response))) }
        for failure in Self.failures { try MessageForm.check(ResponseFrame(.failure(failure))) }
    }

    @Test("a helper cannot report a failure that only its caller can find")
    func otherFailures() throws {
        let call = SystemCallFailure(call: "posix_spawn", number: 2)
        let failures: [HelperFailure] = [.notFound, .cannotStart(call), .died(.killed)]
        for failure in failures {
            let bytes = try MessageForm.bytes(of: ResponseFrame(.failure(.helper(failure))))
            #expect(MessageForm.read(bytes, as: ResponseFrame.self) == nil)
        }
    }

    @Test("the largest response fits into a frame")
    func largest() throws {
        let token = try Self.token(String(repeating: "a", count: Token.longest))
        let secret = SecretBytes(text: token.text)
        let time = PlainText(showing: String(repeating: "t", count: PlainText.longest))
        let next = HelperResponse.NextSecret(secret: secret, generation: .max)
        let response = ResponseFrame(
            .success(
                .accepted(
                    HelperResponse.Acceptance(
                        verification: token, login: secret, expiresAt: time, next: next))))
        #expect(try MessageForm.bytes(of: response).count <= HelperProtocol.largestResponse)
    }

    private static let failures: [HTTPHelperFailure] =
        [
            .helper(.notConfined(SystemCallFailure(call: "seccomp_load", number: 38))),
            .helper(.otherVersion),
            .helper(.system(SystemCallFailure(call: "read", number: -1))),
            .library(code: -7), .unknownHost, .notLoopback,
            .unreachable(SystemCallFailure(call: "connect", number: 111)), .timedOut,
            .connectionLost, .handshake, .authorities, .badResponse, .tooLarge,
        ] + HTTPHelperFailure.CertificateFault.allCases.map(HTTPHelperFailure.certificate)
}
