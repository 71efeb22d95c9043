import Testing

@testable import Verification

@Suite("Audience of logins")
struct AudienceTests {
    private func client(_ name: String, _ fixture: VerifierFixture) async throws -> ClientID {
        let added = try #require(
            try await fixture.verifier.addClient(named: name, scopes: ["verify"]))
        return try #require(ClientID(bytes: added.client.id))
    }

    /// A login ticket of a device that was enrolled for this audience.
    private func ticket(_ audience: Set<ClientID>, _ fixture: VerifierFixture) async throws -> Token
    {
        let grant = try await fixture.verifier.enrolSecret(for: fixture.alice, audience: audience)
            .granted()
        let secret = try #require(try await fixture.verifier.redeemEnrolment(grant.ticket).value)
        let device = TestDevice(credential: secret.credential, secret: secret.secret)
        return try #require(try await fixture.login(device, nonce: 1).acceptance).login
    }

    @Test("O-09 only the audience of a login ticket can redeem it, and a denial does not spend it")
    func audience() async throws {
        let fixture = try VerifierFixture()
        let shop = try await client("shop", fixture)
        let mill = try await client("mill", fixture)
        let other = try await client("other", fixture)
        for audience in [[shop], [shop, mill]] as [Set<ClientID>] {
            for redeemer in audience {
                let ticket = try await ticket(audience, fixture)
                for stranger in [other, nil] {
                    let outcome = try await fixture.verifier.redeemLogin(ticket, by: stranger)
                    #expect(outcome.value == nil)
                    #expect(try await fixture.events().last?.reason == .otherAudience)
                }
                let outcome = try await fixture.verifier.redeemLogin(ticket, by: redeemer)
                #expect(outcome.value?.subject == fixture.alice)
                #expect(
                    try await fixture.verifier.redeemLogin(ticket, by: redeemer).value == nil)
            }
        }
    }

    @Test("O-09 an audience with unknown, revoked or too many clients is refused")
    func unknown() async throws {
        let fixture = try VerifierFixture()
        let shop = try await client("shop", fixture)
        let revoked = try await client("mill", fixture)
        #expect(try await fixture.verifier.revokeClient(revoked.bytes) == .done)
        let none = try #require(ClientID(bytes: [UInt8](repeating: 0, count: ClientID.count)))
        var many: Set<ClientID> = []
        for number in 0...Policy.maximumAudience {
            many.insert(try await client("\(number)", fixture))
        }
        for audience in [[none], [revoked], [shop, none], many] as [Set<ClientID>] {
            let outcome = try await fixture.verifier.enrolSecret(
                for: fixture.alice, audience: audience)
            guard case .refused(.unknownClient) = outcome else {
                Issue.record("the enrolment was granted")
                return
            }
        }
        #expect(try await fixture.verifier.credentials(of: fixture.alice).credentials.isEmpty)
    }
}
