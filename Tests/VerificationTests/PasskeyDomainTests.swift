import TestSupport
import Testing

@testable import PasskeyVerification
@testable import Verification

/// A relying party that moves from one domain to a second one.
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
        "after a move, old passkeys sign in on the old domain, and new ones are for the new domain")
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
        // The older passkey can still be used, so the new passkey is not the only credential.
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

    @Test(
        "K-16 a passkey signs in only on the domain, first or second, where it was registered")
    func ownDomain() async throws {
        let fixture = try VerifierFixture()
        let (old, new) = ("old.example", "new.example")
        let before = Passkeys(fixture.verifier, for: try Self.relyingParty(old))
        let after = Passkeys(fixture.verifier, for: try Self.relyingParty(new, old))
        let (first, second) = (try Self.passkey(1, of: old), try Self.passkey(2, of: new))
        // Both domains have the same id, but with different keys.
        let (twin, otherTwin) = (try Self.passkey(3, of: old), try Self.passkey(3, of: new))
        for (passkey, passkeys) in [
            (first, before), (twin, before), (second, after), (otherTwin, after),
        ] {
            let outcome = try await register(passkey, at: passkeys, for: fixture.alice)
            guard case .accepted = outcome else { throw BenchError.refused }
        }
        func denial(_ passkey: TestPasskey, at domain: String) async throws -> DenialReason? {
            let ceremony = try await after.beginAuthentication(
                CeremonyRequest(for: fixture.alice, at: domain))
            return try await after.finishAuthentication(
                SentAssertion(passkey.signed(ceremony.options), for: ceremony.token)
            ).denial
        }
        for (passkey, own, other) in [(first, old, new), (second, new, old)] {
            #expect(try await denial(passkey, at: own) == nil)
            var changed = passkey
            changed.relyingPartyID = other
            #expect(try await denial(changed, at: own) == .relyingParty)
            // A ceremony of the other domain receives the hash of either domain.
            for passkey in [passkey, changed] {
                #expect(try await denial(passkey, at: other) == .unknown)
            }
        }
        for (passkey, own, other) in [(twin, old, new), (otherTwin, new, old)] {
            #expect(try await denial(passkey, at: own) == nil)
            #expect(try await denial(passkey, at: other) == .relyingParty)
            var changed = passkey
            changed.relyingPartyID = other
            #expect(try await denial(changed, at: other) == .signature)
        }
        // A new passkey is for the first domain.
        #expect(
            try await register(Self.passkey(4, of: old), at: after, for: fixture.alice)
                == .denied(.relyingParty))
    }

    private static func passkey(_ id: UInt8, of domain: String) throws -> TestPasskey {
        var passkey = try TestPasskey(id: [id])
        (passkey.relyingPartyID, passkey.origin) = (domain, "https://\(domain)")
        return passkey
    }

    @Test("K-01 an Android app is accepted as an origin if its exact text is configured")
    func apps() async throws {
        let app = "android:apk-key-hash:3Rwcq9qmsWzAELsYDQtVffBTPrzDYHzGziieeqJCCys"
        let bench = try PasskeyFixture(apps: [app])
        var passkey = try TestPasskey()
        passkey.origin = app
        try await bench.register(passkey)
        for (origin, reason) in [
            (app, nil), (app.replacing("3Rw", with: "3rw"), .origin), (app + "=", .origin),
            (app.replacing("android", with: "ios"), .origin), (String(app.dropLast()), .origin),
        ] as [(String, DenialReason?)] {
            passkey.origin = origin
            #expect(try await bench.signIn(passkey).denial == reason, "\(origin)")
        }
    }

    @Test("K-16 a passkey of a removed domain cannot be used, and does not count")
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
        // A ceremony and a registration were open when the domain was removed.
        let ceremony = try await before.beginAuthentication(CeremonyRequest(for: fixture.alice))
        old.origin = "https://new.example"
        #expect(
            try await after.finishAuthentication(
                SentAssertion(old.signed(ceremony.options), for: ceremony.token)
            ).denial == .relyingParty)
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
