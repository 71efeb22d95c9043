import StoreContract
import TestSupport
import Testing
import WatchwordCryptography

@testable import PasskeyVerification
@testable import Verification

/// The accepted and the refused registrations of a passkey.
@Suite("Registration of passkeys")
struct PasskeyRegistrationTests {
    @Test(
        "W-03 W-06 W-13 K-01 K-07 K-14 K-16 K-17 K-18 K-20 K-23 K-25 K-26 K-27 K-28 K-29 K-30 K-32 K-33 K-34 K-35 K-36 K-41 K-42 K-43 K-44 K-45 K-46 K-47 K-48 K-49 K-50 K-61 K-62 a registration with any of these changes is denied",
        arguments: PasskeyCase.both + PasskeyCase.registrations)
    func changed(instance: PasskeyCase) async throws {
        let bench = try PasskeyFixture()
        try await bench.register(TestPasskey())
        var passkey = try TestPasskey(id: [9, 9])
        instance.change(&passkey)
        let bad = try await bench.begun()
        guard let reason = instance.reason else {
            #expect(throws: PasskeyError.member("rawId")) { try passkey.created(bad.options) }
            return
        }
        #expect(try await bench.finish(bad, passkey) == .denied(reason))
        let event = try #require(try await bench.fixture.events().last)
        #expect(event.kind == .denied)
        #expect(event.reason == reason)
    }

    @Test(
        "K-26 K-27 K-39 a passkey registers and signs in after each permitted change",
        arguments: PasskeyCase.accepted)
    func permitted(instance: PasskeyCase) async throws {
        let bench = try PasskeyFixture()
        var passkey = try TestPasskey()
        instance.change(&passkey)
        try await bench.register(passkey)
        #expect(try await bench.signIn(passkey).isAccepted)
        PasskeyCase.mirrored.change(&passkey)
        #expect(try await bench.signIn(passkey).isAccepted)
    }

    @Test("W-07 W-12 an accepted registration returns the facts about the passkey")
    func accepted() async throws {
        let bench = try PasskeyFixture()
        var passkey = try TestPasskey()
        passkey.flags = 0x1d
        passkey.count = 5
        passkey.model = [UInt8](repeating: 3, count: 16)
        let grant = try await bench.begun()
        #expect(grant.options.challenge.count == 32)
        #expect(grant.options.relyingParty.id == "mill.example")
        #expect(grant.options.excluded == [])
        #expect(grant.expiresAt == bench.fixture.clock.now.adding(seconds: 600))
        let origin = Origin(address: "192.0.2.1", userAgent: "Browser/1")
        let outcome = try await bench.passkeys.finishRegistration(
            of: grant.credential, with: passkey.created(grant.options), name: "laptop",
            origin: origin)
        #expect(
            outcome
                == .accepted(
                    RegistrationOutcome.Acceptance(
                        isDeviceBound: false, isBackedUp: true, isUserVerified: true,
                        attestation: "none", model: passkey.model, isOnlyCredential: true)))
        let summary = try await bench.fixture.summary(grant.credential)
        #expect(summary.state == .active)
        #expect(summary.name == "laptop")
        #expect(summary.origin == origin)
        // The next registration excludes this passkey's authenticator.
        let next = try await bench.begun()
        #expect(
            next.options.excluded == [
                PasskeyDescriptor(id: passkey.id, transports: ["internal", "hybrid"])
            ])
        #expect(next.options.userHandle == grant.options.userHandle)
        #expect(next.options.challenge != grant.options.challenge)
        var second = try TestPasskey()
        second.id = [1]
        let later = try await bench.finish(next, second)
        guard case .accepted(let facts) = later else { throw BenchError.refused }
        #expect(!facts.isOnlyCredential)
        #expect(facts.isDeviceBound)
    }

    @Test("K-10 K-11 K-67 a registration is used once, and not after it or the account has ended")
    func once() async throws {
        let bench = try PasskeyFixture()
        let passkey = try TestPasskey()
        // The response is accepted, and then presented again.
        let first = try await bench.begun()
        let response = try passkey.created(first.options)
        _ = try await bench.passkeys.finishRegistration(of: first.credential, with: response)
        #expect(
            try await bench.passkeys.finishRegistration(of: first.credential, with: response)
                == .denied(.challenge))
        // The response is denied, and then repeated without the fault.
        var other = try TestPasskey()
        other.id = [1, 2, 3]
        let second = try await bench.begun()
        let good = try other.created(second.options)
        other.origin = "https://evil.example"
        #expect(
            try await bench.finish(second, other) == .denied(.origin))
        #expect(
            try await bench.passkeys.finishRegistration(of: second.credential, with: good)
                == .denied(.revoked))
        // The response belongs to a different registration.
        other.origin = "https://mill.example"
        let third = try await bench.begun()
        let fourth = try await bench.begun()
        #expect(
            try await bench.passkeys.finishRegistration(
                of: third.credential, with: other.created(fourth.options))
                == .denied(.challenge))
        // The response is too late, or arrives in the last millisecond.
        let last = try await bench.begun()
        bench.fixture.clock.now = fourth.expiresAt
        #expect(
            try await bench.finish(fourth, other)
                == .denied(.expired))
        bench.fixture.clock.now = last.expiresAt.adding(milliseconds: -1)
        guard case .accepted = try await bench.finish(last, other) else {
            throw BenchError.refused
        }
        // The response arrives after the account was closed.
        let fifth = try await bench.begun()
        _ = try await bench.fixture.verifier.closeAccount(of: bench.alice)
        #expect(
            try await bench.finish(fifth, other)
                == .denied(.revoked))
        #expect(try await bench.passkeys.finishRegistration(of: .sample(1), with: good) == nil)
        let denial = try await bench.fixture.events().last
        #expect(denial?.kind == .denied && denial?.reason == .unknown)
        #expect(denial?.credential == .sample(1))
    }

    @Test(
        "W-11 K-52 an id is registered once, for any subject, even after its credential has ended")
    func known() async throws {
        let bench = try PasskeyFixture()
        let passkey = try TestPasskey()
        let credential = try await bench.register(passkey)
        let mallory = try #require(Subject("mallory"))
        var copy = try TestPasskey()
        copy.id = passkey.id
        for isEnded in [false, true] {
            if isEnded { _ = try await bench.fixture.verifier.revoke(credential) }
            let grant = try await bench.begun(mallory)
            #expect(
                try await bench.finish(grant, copy)
                    == .denied(.credentialKnown))
            if !isEnded { #expect(try await bench.signIn(passkey).isAccepted) }
        }
    }

    @Test(
        "V-06 K-66 a sender that registers an id from the options learns nothing about its subject")
    func offeredID() async throws {
        let bench = try PasskeyFixture()
        let real = try TestPasskey()
        try await bench.register(real)
        let lookup = await bench.fixture.keys.ring.lookup
        let nobody = try #require(Subject("nobody"))
        let mallory = try #require(Subject("mallory"))
        for id in [real.id, lookup.madeUpPasskey(of: nobody, for: "mill.example").id] {
            let grant = try await bench.begun(mallory)
            #expect(
                try await bench.passkeys.finishRegistration(
                    of: grant.credential, with: TestPasskey(id: id).created(grant.options))
                    == .denied(.credentialKnown))
        }
    }

    @Test("W-10 K-50 an id of 1,023 bytes is accepted")
    func longest() async throws {
        let bench = try PasskeyFixture()
        var passkey = try TestPasskey()
        passkey.id = [UInt8](repeating: 7, count: 1_023)
        try await bench.register(passkey)
        #expect(try await bench.signIn(passkey).isAccepted)
    }

    @Test("eight transports of up to 32 bytes are kept, and any others are ignored")
    func transports() async throws {
        let bench = try PasskeyFixture()
        let (longest, tooLong) = (
            String(repeating: "a", count: 32), String(repeating: "b", count: 33)
        )
        let sent = [tooLong, "usb", longest] + (1...9).map { "later-\($0)" }
        let grant = try await bench.begun()
        let created = try TestPasskey().created(grant.options)
        _ = try await bench.passkeys.finishRegistration(
            of: grant.credential,
            with: RegistrationResponse(
                credentialID: created.credentialID, clientData: created.clientData,
                attestationObject: created.attestationObject, transports: sent))
        let kept = try await bench.fixture.registeredPasskey(grant.credential).transports
        #expect(kept == Array(sent.dropFirst().prefix(8)))
    }

    @Test("a new passkey replaces a credential of the same subject, in the same commit")
    func replacing() async throws {
        let bench = try PasskeyFixture()
        let old = try await bench.fixture.enrolled().credential
        let grant = try await bench.begun(replacing: old)
        var passkey = try TestPasskey()
        passkey.origin = "https://evil.example"
        _ = try await bench.finish(grant, passkey)
        #expect(try await bench.fixture.summary(old).state == .active)
        passkey.origin = "https://mill.example"
        let again = try await bench.begun(replacing: old)
        let outcome = try await bench.finish(again, passkey)
        guard case .accepted(let facts) = outcome else { throw BenchError.refused }
        #expect(facts.isOnlyCredential)
        #expect(try await bench.fixture.summary(old).state == .revoked)
        // The credential belongs to a different subject, or does not exist.
        let mallory = try #require(Subject("mallory"))
        guard
            case .refused(.unknownCredential) = try await bench.passkeys.beginRegistration(
                PasskeyEnrolment(for: mallory, replacing: again.credential))
        else { throw BenchError.refused }
    }

    @Test("a passkey cannot replace an unfinished registration, before or after its deadline")
    func replacingPending() async throws {
        let bench = try PasskeyFixture()
        let pending = try await bench.begun()
        let account = PasskeyAccount(userName: "alice", displayName: "Alice")
        // After the deadline, the next registration would use the same row.
        for _ in 0..<2 {
            guard
                case .refused(.pendingCredential) = try await bench.passkeys.beginRegistration(
                    PasskeyEnrolment(for: bench.alice, replacing: pending.credential)),
                case .refused(.pendingCredential) = try await bench.passkeys.issueTicket(
                    for: PasskeyEnrolment(for: bench.alice, replacing: pending.credential),
                    account: account)
            else { throw BenchError.refused }
            bench.fixture.clock.now = pending.expiresAt
        }
        // The next registration uses the row if it replaces no credential.
        #expect(try await bench.begun().credential == pending.credential)
    }

    @Test("W-07 N-32 N-41 K-22 the policy decides on synced passkeys and attestation")
    func policy() async throws {
        let bench = try PasskeyFixture()
        func outcome(
            _ policy: PasskeyPolicy, _ change: (inout TestPasskey) -> Void = { _ in }
        ) async throws -> DenialReason? {
            var passkey = try TestPasskey()
            passkey.id = Array(passkey.key.point.prefix(20))
            change(&passkey)
            let grant = try await bench.begun(policy: policy)
            switch try await bench.finish(grant, passkey)
            {
            case .denied(let reason): return reason
            case .accepted: return nil
            case nil: throw BenchError.refused
            }
        }
        #expect(try await outcome(PasskeyPolicy(backup: .deviceBound)) == nil)
        #expect(
            try await outcome(PasskeyPolicy(backup: .deviceBound)) { $0.flags = 0x0d }
                == .notDeviceBound)
        #expect(
            try await outcome(PasskeyPolicy(userVerification: .preferred)) { $0.flags = 0x01 }
                == nil)
        #expect(
            try await outcome(PasskeyPolicy(attestation: .trusted)) == .attestationUntrusted)
        #expect(try await outcome(PasskeyPolicy(attestation: .any)) == nil)
        #expect(
            try await outcome(PasskeyPolicy(attestation: .any)) { $0.format = "later" }
                == .attestationFormat)
        #expect(try await outcome(.standard) { $0.format = "later" } == nil)
        #expect(try await outcome(.standard) { $0.format = "packed" } == .attestation)
    }

    @Test("W-08 N-25 K-28 an algorithm that the server does not offer is denied")
    func offered() async throws {
        let bench = try PasskeyFixture(algorithms: [.rs256])
        let grant = try await bench.begun()
        #expect(
            try await bench.passkeys.finishRegistration(
                of: grant.credential, with: TestPasskey().created(grant.options))
                == .denied(.algorithm))
    }
}
