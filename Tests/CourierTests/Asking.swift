import Courier
import Cryptography
import TestSupport
import Testing

/// Errands to a server of the test's own, by the real courier.
struct Asking {
    static let ticket = SecretBytes(text: "wwt_a-ticket-of-the-tests")

    let server: ServerAddress
    let authorities: [UInt8]
    let courier: Courier

    init(_ address: String, authorities: [UInt8] = [], timeout: Duration = .seconds(60)) throws {
        server = try ServerAddress(parsing: address)
        self.authorities = authorities
        courier = try Courier(path: BuiltProgram.path("watchword-courier"), timeout: timeout)
    }

    func redeem(_ ticket: SecretBytes = ticket, deviceName: String = "") throws(CourierFailure)
        -> CourierAnswer
    {
        try courier.carry(
            Errand(
                server: server, authorities: authorities, idempotencyKey: "the-same-key",
                question: .enrolment(ticket: ticket, deviceName: deviceName)))
    }

    func signIn(_ credential: Token, _ secret: SecretBytes, nonce: UInt8) throws -> CourierAnswer {
        let nonce = try #require(RotationNonce([UInt8](repeating: nonce, count: 16)))
        return try courier.carry(
            Errand(
                server: server, authorities: authorities, idempotencyKey: "another-key",
                question: .login(
                    Errand.Login(credential: credential, secret: secret, nonce: nonce))))
    }
}
