import TestSupport
import Testing
import WatchwordCryptography

@testable import PasskeyVerification
@testable import Verification

/// The tickets that the server's own pages use: enrolment tickets and login tickets of passkeys.
@Suite("Tickets of passkeys")
struct PasskeyTicketTests {
    private func ticket(_ bench: PasskeyFixture) async throws -> PasskeyTicket {
        let account = PasskeyAccount(userName: "alice", displayName: "Alice")
        let grant = try await bench.passkeys.issueTicket(
            for: PasskeyEnrolment(for: bench.alice), account: account
        ).granted()
        return grant
    }

    private func options(
        _ ticket: Token, _ bench: PasskeyFixture
    ) async throws -> CreationOptions? {
        switch try await bench.passkeys.beginRegistration(with: ticket) {
        case .redeemed(let invitation): invitation.options
        case .denied: nil
        }
    }

    @Test("a denial spends the challenge but not the ticket, and success spends the ticket")
    func spent() async throws {
        let bench = try PasskeyFixture()
        let grant = try await ticket(bench)
        let good = try TestPasskey()
        var bad = good
        bad.origin = "https://evil.example"
        let first = try #require(try await options(grant.ticket, bench))
        let denied = try await bench.passkeys.finishRegistration(
            with: grant.ticket, response: bad.created(first))
        guard case .redeemed(.denied(.origin)) = denied else { throw BenchError.refused }
        let late = try await bench.passkeys.finishRegistration(
            with: grant.ticket, response: good.created(first))
        guard case .redeemed(.denied(.challenge)) = late else { throw BenchError.refused }
        let second = try #require(try await options(grant.ticket, bench))
        #expect(second.challenge != first.challenge && second.timeout <= first.timeout)
        let accepted = try await bench.passkeys.finishRegistration(
            with: grant.ticket, response: good.created(second))
        guard case .redeemed(.accepted) = accepted else { throw BenchError.refused }
        #expect(try await options(grant.ticket, bench) == nil)
        #expect(try await bench.fixture.summary(grant.credential).state == .active)
        #expect(try await bench.signIn(good).isAccepted)
    }

    @Test("a ticket expires, ends with the account, and differs from a ticket for a device")
    func ended() async throws {
        let bench = try PasskeyFixture()
        let late = try await ticket(bench)
        bench.fixture.clock.now = late.expiresAt.adding(milliseconds: -1)
        #expect(try await options(late.ticket, bench) != nil)
        bench.fixture.clock.now = late.expiresAt
        #expect(try await options(late.ticket, bench) == nil)
        let closed = try await ticket(bench)
        _ = try await bench.fixture.verifier.closeAccount(of: bench.alice)
        #expect(try await options(closed.ticket, bench) == nil)
        let secret = try await bench.fixture.verifier.enrolSecret(
            for: bench.alice
        ).granted()
        #expect(try await options(secret.ticket, bench) == nil)
        let passkey = try await ticket(bench)
        let redeemed = try await bench.fixture.verifier.redeemEnrolment(passkey.ticket)
        guard case .denied = redeemed else { throw BenchError.refused }
    }

    @Test("a login ticket is redeemed once, and returns the policy's further requirements")
    func logins() async throws {
        let bench = try PasskeyFixture()
        var passkey = try TestPasskey()
        passkey.flags = 0x0d
        let credential = try await bench.register(passkey)
        for (policy, stepUp) in [
            (PasskeyPolicy.standard, []), (PasskeyPolicy(backup: .stepUp), [.newDevice]),
        ] as [(PasskeyPolicy, [StepUpReason])] {
            let ceremony = try await bench.passkeys.beginAuthentication(
                CeremonyRequest(for: bench.alice, policy: policy))
            let outcome = try await bench.passkeys.finishAuthentication(
                SentAssertion(passkey.signed(ceremony.options), for: ceremony.token),
                issuingLogin: true)
            let login = try #require(outcome.login)
            #expect(login.expiresAt == bench.fixture.clock.now.adding(milliseconds: 60_000))
            let redeemed = try await bench.fixture.verifier.redeemLogin(login.token)
            #expect(
                redeemed.value
                    == SignedIn(
                        subject: bench.alice, credential: credential, kind: .passkey,
                        verification: outcome.verification, verifiedAt: bench.fixture.clock.now,
                        deviceKey: nil,
                        passkey: PasskeyFacts(isUserVerified: true, stepUp: stepUp)))
            #expect(try await bench.fixture.verifier.redeemLogin(login.token).value == nil)
        }
        let ceremony = try await bench.passkeys.beginAuthentication(
            CeremonyRequest(for: bench.alice))
        let silent = try await bench.finish(ceremony, passkey)
        #expect(silent.isAccepted && silent.login == nil)
    }

    @Test("K-82 a restore closes the open logins of a passkey")
    func restored() async throws {
        let bench = try PasskeyFixture()
        let passkey = try TestPasskey()
        let credential = try await bench.register(passkey)
        let ceremony = try await bench.passkeys.beginAuthentication(
            CeremonyRequest(for: bench.alice))
        let outcome = try await bench.passkeys.finishAuthentication(
            SentAssertion(passkey.signed(ceremony.options), for: ceremony.token), issuingLogin: true
        )
        let row = try #require(try await bench.fixture.store.credential(credential))
        let restored = try #require(try row.afterRestoring(at: bench.fixture.clock.now))
        guard case .passkey(var open) = try CredentialRecord(row).material,
            case .passkey(var closed) = try CredentialRecord(restored.row).material
        else { throw BenchError.refused }
        #expect(open.openUses.close(outcome.verification) != nil)
        #expect(closed.openUses.close(outcome.verification) == nil)
    }

    @Test("V-06 K-66 made-up passkeys look like those of several common authenticators")
    func madeUpKinds() async throws {
        let lookup = await (try PasskeyFixture()).fixture.keys.ring.lookup
        var kinds: [String: Int] = [:]
        for number in 0..<400 {
            let subject = try #require(Subject("nobody-\(number)"))
            let made = lookup.madeUpPasskey(of: subject, for: "mill.example")
            #expect(lookup.isMadeUp(made.id))
            kinds["\(made.id.count) \(made.transports.joined(separator: " "))", default: 0] += 1
        }
        #expect(
            Set(kinds.keys) == [
                "16 hybrid internal", "20 hybrid internal", "32 internal", "48 nfc usb",
            ])
        #expect(kinds.values.allSatisfy { $0 >= 20 }, "\(kinds)")
    }

    @Test("V-06 K-66 a made-up id is recognised; browsers must forget only the other unknown ids")
    func madeUp() async throws {
        let bench = try PasskeyFixture()
        let lookup = await bench.fixture.keys.ring.lookup
        let nobody = try #require(Subject("nobody"))
        let id = lookup.madeUpPasskey(of: nobody, for: "mill.example").id
        #expect(lookup.isMadeUp(id))
        for position in id.indices {
            var changed = id
            changed[position] ^= 1
            #expect(!lookup.isMadeUp(changed))
        }
        #expect(!lookup.isMadeUp(Array(id.dropLast())))
        #expect(!lookup.isMadeUp([]))
        for (stated, forgotten) in [(id, nil), ([1, 2, 3], "mill.example")] as [([UInt8], String?)]
        {
            let passkey = try TestPasskey(id: stated)
            #expect(try await bench.signIn(passkey, as: nobody).forgottenAt == forgotten)
        }
        // The passkey of a different subject, which the browser is right to offer.
        let passkey = try TestPasskey()
        let credential = try await bench.register(passkey)
        #expect(try await bench.signIn(passkey, as: nobody).forgottenAt == nil)
        _ = try await bench.fixture.verifier.revoke(credential)
        #expect(try await bench.signIn(passkey).forgottenAt == "mill.example")
    }
}
