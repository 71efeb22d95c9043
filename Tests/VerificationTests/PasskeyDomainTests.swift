import TestSupport
import Testing

@testable import PasskeyVerification
@testable import Verification

/// A relying party that moves from one domain to another.
@Suite("Domains of passkeys")
struct PasskeyDomainTests {
    private static func relyingParty(_ ids: String...) throws -> RelyingParty {
        try RelyingParty(ids: ids, name: "Mill", origins: ids.map { "https://\($0)" })
    }

    private func register(
        _ passkey: TestPasskey, at passkeys: Passkeys, for subject: Subject
    ) async throws -> RegistrationOutcome? {
        let grant = try await passkeys.beginRegistration(
            PasskeyEnrolment(for: subject)
        ).granted()
        return try await passkeys.finishRegistration(
            of: grant.credential, with: passkey.created(grant.options))
    }

    @Test(
        "after a move, passkeys of the older domain sign in there, and new ones are for the newer")
    func moved() async throws {
        let fixture = try VerifierFixture()
        let before = Passkeys(fixture.verifier, for: try Self.relyingParty("old.example"))
        let after = Passkeys(
            fixture.verifier, for: try Self.relyingParty("new.example", "old.example"))
        var (old, new) = (try TestPasskey(id: [1]), try TestPasskey(id: [2]))
        (old.relyingPartyID, old.origin) = ("old.example", "https://old.example")
        (new.relyingPartyID, new.origin) = ("new.example", "https://new.example")
        _ = try await register(old, at: before, for: fixture.alice)
        for (passkey, id, reason) in [
            (old, "old.example", nil), (old, "new.example", .relyingParty),
        ] as [(TestPasskey, String?, DenialReason?)] {
            let ceremony = try await after.beginAuthentication(
                CeremonyRequest(for: fixture.alice, at: id))
            #expect(ceremony.options.relyingPartyID == id)
            #expect((ceremony.options.allowed.first?.id == old.id) == (reason == nil))
            let outcome = try await after.finishAuthentication(
                SentAssertion(passkey.signed(ceremony.options), for: ceremony.token))
            #expect(outcome.isAccepted == (reason == nil))
        }
        // The older one can still be used, so the new one is not the only credential.
        guard case .accepted(let facts) = try await register(new, at: after, for: fixture.alice)
        else { throw BenchError.refused }
        #expect(!facts.isOnlyCredential)
        for (id, passkey) in [("old.example", old), ("new.example", new)] {
            guard
                case .accepted(id, _, [passkey.id]) = try await after.signal(
                    for: fixture.alice, at: id)
            else { throw BenchError.refused }
        }
        #expect(after.relyingParty.id(for: "https://a.old.example:8443") == "old.example")
        #expect(after.relyingParty.id(for: "https://xold.example") == "new.example")
    }

    @Test("a passkey of a domain that was removed cannot be used, and does not count")
    func removed() async throws {
        let fixture = try VerifierFixture()
        let before = Passkeys(fixture.verifier, for: try Self.relyingParty("old.example"))
        let after = Passkeys(fixture.verifier, for: try Self.relyingParty("new.example"))
        var (old, new) = (try TestPasskey(id: [1]), try TestPasskey(id: [2]))
        (old.relyingPartyID, old.origin) = ("old.example", "https://old.example")
        (new.relyingPartyID, new.origin) = ("new.example", "https://new.example")
        _ = try await register(old, at: before, for: fixture.alice)
        guard case .accepted(let facts) = try await register(new, at: after, for: fixture.alice)
        else { throw BenchError.refused }
        #expect(facts.isOnlyCredential)
        // A registration that was open when the domain was removed.
        let grant = try await before.beginRegistration(
            PasskeyEnrolment(for: fixture.alice)
        ).granted()
        var late = try TestPasskey(id: [3])
        (late.relyingPartyID, late.origin) = ("old.example", "https://new.example")
        #expect(
            try await after.finishRegistration(
                of: grant.credential, with: late.created(grant.options))
                == .denied(.relyingParty))
    }
}
