import Courier
import TestSupport
import Testing
import WatchwordCryptography

/// Requests to the test's own server, sent by the real helper.
struct Asking {
    static let ticket = SecretBytes(text: "wwt_a-ticket-of-the-tests")

    let server: TrustedServer
    let helper: HTTPHelper

    init(_ address: String, authorities: [UInt8] = [], timeout: Duration = .seconds(60)) throws {
        server = TrustedServer(try #require(ServerAddress(address)), authorities: authorities)
        helper = try HTTPHelper(path: BuiltProgram.path("watchword-courier"), timeout: timeout)
    }

    func redeem(
        _ ticket: SecretBytes = ticket, deviceName: String = "", custody: SecretCustody? = nil
    ) throws(HTTPHelperFailure) -> HelperResponse {
        try helper.send(
            HelperRequest(
                server: server, idempotencyKey: "the-same-key",
                operation: .enrolment(
                    ticket: ticket, deviceName: deviceName, custody: custody)))
    }

    func signIn(_ credential: Token, _ secret: SecretBytes, nonce: UInt8) throws -> HelperResponse {
        let nonce = try #require(RotationNonce([UInt8](repeating: nonce, count: 16)))
        return try helper.send(
            HelperRequest(
                server: server, idempotencyKey: "another-key",
                operation: .login(
                    HelperRequest.Login(credential: credential, secret: secret, nonce: nonce))))
    }
}
