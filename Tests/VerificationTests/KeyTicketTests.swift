import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

@Suite("Tickets for one-time passwords")
struct KeyTicketTests {
    private static func ticket(
        _ fixture: VerifierFixture, digits: Int = 6,
        _ factor: OneTimePasswordEnrolment.Factor = .time(period: 30)
    ) async throws -> SecretGrant {
        try await fixture.verifier.issueOneTimePasswordTicket(
            OneTimePasswordEnrolment(
                issuer: "", account: "-", factor: factor, algorithm: .sha256, digits: digits),
            for: fixture.alice
        ).granted()
    }

    private static func redeem(
        _ ticket: Token, _ fixture: VerifierFixture, of subject: Subject? = nil
    ) async throws -> OneTimePasswordGrant? {
        let outcome = try await fixture.verifier.redeemOneTimePassword(
            ticket, of: subject ?? fixture.alice, issuer: "Mill", account: "alice")
        guard case .redeemed(let grant) = outcome else { return nil }
        return grant
    }

    @Test(
        "a ticket shows its subject the key once, and a first code confirms the key",
        arguments: [OneTimePasswordEnrolment.Factor.time(period: 60), .counter(7)])
    func redeemed(factor: OneTimePasswordEnrolment.Factor) async throws {
        let fixture = try VerifierFixture()
        let issued = try await Self.ticket(fixture, digits: 8, factor)
        let bob = try #require(Subject("bob"))
        #expect(try await Self.redeem(issued.ticket, fixture, of: bob) == nil)
        let grant = try #require(try await Self.redeem(issued.ticket, fixture))
        #expect(grant.credential == issued.credential && grant.expiresAt == issued.expiresAt)
        #expect(try await Self.redeem(issued.ticket, fixture) == nil)
        let authenticator = try TestAuthenticator(grant)
        #expect(authenticator.entry.issuer == "Mill" && authenticator.entry.account == "alice")
        #expect(authenticator.entry.algorithm == .sha256)
        let code =
            if case .counter(let counter) = factor { try authenticator.code(counter) } else {
                try authenticator.code(at: fixture.clock.now)
            }
        #expect(code.characters.count == 8)
        #expect(
            try await fixture.verifier.confirm(issued.credential, code: code).acceptance != nil)
        #expect(try await fixture.count(.enrolled) == 1)
    }

    @Test("a ticket is denied after ten minutes, and after its credential was revoked")
    func ended() async throws {
        let fixture = try VerifierFixture()
        let late = try await Self.ticket(fixture)
        fixture.clock.now = fixture.clock.now.adding(milliseconds: Policy.enrolmentLifetime - 1)
        let revoked = try await Self.ticket(fixture)
        #expect(try await fixture.verifier.revoke(revoked.credential) == .done)
        #expect(try await Self.redeem(revoked.ticket, fixture) == nil)
        fixture.clock.now = fixture.clock.now.adding(milliseconds: 1)
        #expect(try await Self.redeem(late.ticket, fixture) == nil)
        #expect(try await fixture.count(.denied) > 0)
    }

    @Test("tickets for enrolled secrets and for keys are not interchangeable")
    func kinds() async throws {
        let fixture = try VerifierFixture()
        let key = try await Self.ticket(fixture)
        let secret = try await fixture.verifier.enrolSecret(for: fixture.alice).granted()
        #expect(try await Self.redeem(secret.ticket, fixture) == nil)
        guard case .denied = try await fixture.verifier.redeemEnrolment(key.ticket) else {
            Issue.record("a device fetched the ticket of a key")
            return
        }
        #expect(try await Self.redeem(key.ticket, fixture) != nil)
    }

    @Test("of fifty requests with one ticket, one gets the key")
    func race() async throws {
        let fixture = try VerifierFixture()
        let ticket = try await Self.ticket(fixture).ticket
        let shown = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 {
                group.addTask { try await Self.redeem(ticket, fixture) != nil }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(shown == 1)
    }
}
