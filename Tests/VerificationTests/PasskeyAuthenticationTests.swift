import TestSupport
import Testing
import WatchwordCryptography

@testable import PasskeyVerification
@testable import Verification

/// The accepted and the denied signatures of passkeys.
@Suite("Authentication with passkeys")
struct PasskeyAuthenticationTests {
    @Test(
        "W-17 W-18 W-21 K-02 K-08 K-10 K-14 K-16 K-17 K-18 K-20 K-23 K-25 K-26 K-27 K-37 K-38 K-41 K-42 K-43 K-44 K-45 K-46 K-47 K-48 K-54 an authentication with any of these changes is denied, and spends the challenge",
        arguments: PasskeyCase.both + PasskeyCase.authentications)
    func changed(instance: PasskeyCase) async throws {
        let bench = try PasskeyFixture()
        let passkey = try TestPasskey()
        let credential = try await bench.register(passkey)
        #expect(try await bench.signIn(passkey).isAccepted)
        var bad = passkey
        instance.change(&bad)
        let ceremony = try await bench.passkeys.beginAuthentication(
            CeremonyRequest(for: bench.alice))
        guard let reason = instance.reason else {
            #expect(throws: PasskeyError.member("rawId")) { try bad.signed(ceremony.options) }
            return
        }
        let outcome = try await bench.finish(ceremony, bad)
        #expect(outcome.denial == reason)
        // The denial spends the challenge.
        let good = try await bench.finish(ceremony, passkey)
        #expect(good.denial == .challenge)
        // Wrong signatures do not lock anyone out.
        #expect(try await bench.signIn(passkey).isAccepted)
        let event = try #require(
            try await bench.fixture.events().last { $0.verification == outcome.verification })
        #expect(event.reason == reason)
        #expect(try await bench.fixture.summary(credential).failures == 0)
    }

    @Test("K-09 K-11 K-12 K-13 until it expires, a challenge permits its own client one decision")
    func challenges() async throws {
        let bench = try PasskeyFixture()
        let passkey = try TestPasskey()
        try await bench.register(passkey)
        let shop = ClientID(bytes: [UInt8](repeating: 1, count: 16))
        let other = ClientID(bytes: [UInt8](repeating: 2, count: 16))
        let ceremony = try await bench.passkeys.beginAuthentication(
            CeremonyRequest(for: bench.alice, by: shop))
        let response = try passkey.signed(ceremony.options)
        func finish(_ token: Token, by client: ClientID?) async throws -> AssertionOutcome {
            try await bench.passkeys.finishAuthentication(
                SentAssertion(response, for: token), by: client)
        }
        // An attempt of a different client does not spend the challenge.
        #expect(try await finish(ceremony.token, by: other).denial == .challenge)
        #expect(try await finish(ceremony.token, by: nil).denial == .challenge)
        #expect(try await finish(ceremony.token, by: shop).isAccepted)
        #expect(try await finish(ceremony.token, by: shop).denial == .challenge)
        // The challenge belongs to a different ceremony, and the signature is valid.
        let second = try await bench.passkeys.beginAuthentication(
            CeremonyRequest(for: bench.alice, by: shop))
        #expect(try await finish(second.token, by: shop).denial == .challenge)
        // The last millisecond is in time, and the next is too late.
        for (isLate, reason) in [(false, nil), (true, .expired)] as [(Bool, DenialReason?)] {
            for isConditional in [false, true] {
                let begun = bench.fixture.clock.now
                let third = try await bench.passkeys.beginAuthentication(
                    CeremonyRequest(for: bench.alice, isConditional: isConditional))
                let life: Int64 = isConditional ? 600_000 : 300_000
                #expect(third.options.timeout == life - 30_000)
                bench.fixture.clock.now = begun.adding(milliseconds: isLate ? life : life - 1)
                let outcome = try await bench.finish(third, passkey)
                #expect(outcome.denial == reason)
                #expect(outcome.isAccepted == !isLate)
            }
        }
    }

    @Test(
        "N-24 V-17 K-15 of a hundred simultaneous responses to one challenge at two processes, one is decided"
    )
    func race() async throws {
        let bench = try PasskeyFixture()
        let passkey = try TestPasskey()
        try await bench.register(passkey)
        let ceremony = try await bench.passkeys.beginAuthentication(
            CeremonyRequest(for: bench.alice))
        let response = try passkey.signed(ceremony.options)
        let other = bench.other
        let outcomes = try await withThrowingTaskGroup(of: AssertionOutcome.self) { group in
            for index in 0..<100 {
                group.addTask {
                    try await (index.isMultiple(of: 2) ? bench.passkeys : other)
                        .finishAuthentication(
                            SentAssertion(response, for: ceremony.token))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.filter(\.isAccepted).count == 1)
        #expect(outcomes.filter { $0.denial == .challenge }.count == 99)
        #expect(try await bench.fixture.count(.accepted) == 1)
    }

    @Test(
        "W-15 K-53 K-54 K-55 a passkey signs in only its subject, in ceremonies after registration"
    )
    func subjects() async throws {
        let bench = try PasskeyFixture()
        let bob = try #require(Subject("bob"))
        var (hers, his) = (try TestPasskey(), try TestPasskey())
        his.id = [1, 2, 3]
        try await bench.register(hers)
        try await bench.register(his, for: bob)
        #expect(try await bench.signIn(his).denial == .unknown)
        #expect(try await bench.signIn(his, as: bob).isAccepted)
        // Without a subject, the user handle is required, and must belong to the passkey.
        let own = try await bench.begun().options.userHandle
        let other = try await bench.begun(bob).options.userHandle
        for (handle, reason) in [
            (nil, .userHandle), ([], .userHandle), (other, .userHandle), (own, nil),
        ] as [([UInt8]?, DenialReason?)] {
            let ceremony = try await bench.passkeys.beginAuthentication(CeremonyRequest(for: nil))
            #expect(ceremony.options.allowed == [])
            hers.userHandle = handle
            let outcome = try await bench.finish(ceremony, hers)
            #expect(outcome.denial == reason)
            #expect(outcome.signer?.subject == (reason == nil ? bench.alice : nil))
        }
        // The passkey was registered after the ceremony began.
        var late = try TestPasskey()
        late.id = [4, 5, 6]
        let ceremony = try await bench.passkeys.beginAuthentication(
            CeremonyRequest(for: bench.alice))
        bench.fixture.clock.advance(seconds: 21)
        try await bench.register(late)
        #expect(
            try await bench.finish(ceremony, late)
                .denial == .unknown)
        #expect(try await bench.signIn(late).isAccepted)
    }

    @Test(
        "W-19 K-40 K-51 N-39 a different key, another passkey's id or a revoked passkey is denied")
    func keys() async throws {
        let bench = try PasskeyFixture()
        let passkey = try TestPasskey()
        var second = try TestPasskey()
        second.id = [1, 2, 3]
        let credential = try await bench.register(passkey)
        try await bench.register(second)
        // The subject's second key signs for the id of the first key.
        second.id = passkey.id
        #expect(try await bench.signIn(second).denial == .signature)
        _ = try await bench.fixture.verifier.revoke(credential)
        #expect(try await bench.signIn(passkey).denial == .revoked)
    }

    @Test("W-22 K-66 an unknown subject gets options like those of a known one, the same each time")
    func unknownSubject() async throws {
        let bench = try PasskeyFixture()
        let nobody = try #require(Subject("nobody"))
        let first = try await bench.passkeys.beginAuthentication(CeremonyRequest(for: nobody))
            .options
        let again = try await bench.passkeys.beginAuthentication(CeremonyRequest(for: nobody))
            .options
        #expect(first.allowed == again.allowed)
        #expect(first.allowed.count == 1)
        #expect(first.challenge != again.challenge)
        let other = try await bench.passkeys.beginAuthentication(CeremonyRequest(for: bench.alice))
            .options
        #expect(other.allowed != first.allowed)
    }

    @Test("V-06 K-66 an unknown passkey causes the same calls and decryptions as a wrong signature")
    func cost() async throws {
        let bench = try PasskeyFixture()
        let passkey = try TestPasskey()
        try await bench.register(passkey)
        func calls(_ change: (inout TestPasskey) -> Void) async throws -> [CountingStore.Call] {
            var bad = passkey
            change(&bad)
            let ceremony = try await bench.passkeys.beginAuthentication(
                CeremonyRequest(for: bench.alice))
            _ = await bench.fixture.store.takeCalls()
            let openings = bench.fixture.meter.counts[.openings] ?? 0
            let outcome = try await bench.finish(ceremony, bad)
            #expect(outcome.denial != nil)
            #expect(bench.fixture.meter.counts[.openings] == openings + 1)
            return await bench.fixture.store.takeCalls()
        }
        let wrong = try await calls { $0.signsOtherData = true }
        #expect(try await calls { $0.statedID = [8] } == wrong)
        #expect(try await calls { $0.userHandle = [1] } == wrong)
        let writes: [CountingStore.Call.Change] = [.writeRow, .challenge, .event]
        #expect(wrong.contains(.commit(writes.sorted())))
    }

    @Test(
        "V-06 K-66 an unknown passkey, a wrong signature and a valid one cost one verification each",
        arguments: [SignatureAlgorithm.es256, .rs256])
    func verifications(algorithm: SignatureAlgorithm) async throws {
        let bench = try PasskeyFixture()
        let passkey = try TestPasskey(OpenSSLKey(algorithm))
        let credential = try await bench.register(passkey)
        func count(
            _ denial: DenialReason?, _ change: (inout TestPasskey) -> Void = { _ in }
        ) async throws -> Int {
            var sent = passkey
            change(&sent)
            let before = bench.fixture.meter.counts[.signatures] ?? 0
            #expect(try await bench.signIn(sent).denial == denial)
            return (bench.fixture.meter.counts[.signatures] ?? 0) - before
        }
        #expect(try await count(nil) == 1)
        #expect(try await count(.signature) { $0.signsOtherData = true } == 1)
        #expect(try await count(.unknown) { $0.statedID = [8] } == 1)
        #expect(try await count(.userHandle) { $0.userHandle = [1] } == 1)
        _ = try await bench.fixture.verifier.revoke(credential)
        #expect(try await count(.revoked) == 1)
    }

    @Test("K-66 a stored key is not checked again, which would take milliseconds")
    func checkedOnce() async throws {
        let bench = try PasskeyFixture()
        var passkey = try TestPasskey()
        let credential = try await bench.register(passkey)
        // OpenSSL's check refuses this modulus, because it is divisible by 29.
        let key = EncodedCBOR.numbered([
            1: .integer(3), 3: .integer(-257),
            -1: .bytes([0xc1] + [UInt8](repeating: 0x5b, count: 255)), -2: .bytes([1, 0, 1]),
        ]).encoded
        #expect(throws: DenialReason.publicKey) { try COSEKey.read(key) }
        try await bench.change(credential) { $0.with(publicKey: key) }
        passkey.signature = [UInt8](repeating: 1, count: 256)
        #expect(try await bench.signIn(passkey).denial == .signature)
    }

    @Test(
        "W-04 W-17 K-24 a frame is accepted only in a listed page, or in a page that the browser does not name"
    )
    func frames() async throws {
        let bench = try PasskeyFixture(topOrigins: ["https://shop.example"])
        var passkey = try TestPasskey()
        try await bench.register(passkey)
        passkey.isCrossOrigin = true
        for (top, reason) in [
            (nil, nil), ("", .topOrigin), ("https://other.example", .topOrigin),
            ("https://mill.example", .topOrigin), ("https://shop.example.", .topOrigin),
            ("https://shop.example", nil),
        ] as [(String?, DenialReason?)] {
            passkey.topOrigin = top
            #expect(try await bench.signIn(passkey).denial == reason)
        }
        passkey.isCrossOrigin = false
        #expect(try await bench.signIn(passkey).denial == .topOrigin)
        // A new passkey signs in the same frame.
        var second = try TestPasskey(id: [1])
        second.isCrossOrigin = true
        try await bench.register(second)
    }

    @Test("W-21 K-21 K-56 the stored counter never falls, and flags and counter are recorded")
    func recorded() async throws {
        let bench = try PasskeyFixture()
        var passkey = try TestPasskey()
        passkey.count = 5
        let credential = try await bench.register(passkey)
        func count() async throws -> UInt32 {
            let row = try #require(try await bench.fixture.store.credential(credential))
            guard case .passkey(let state) = try CredentialRecord(row).material else {
                throw BenchError.refused
            }
            return state.count
        }
        for (sent, finding, stored) in [
            (6, .ok, 6), (6, .rollback, 6), (2, .rollback, 6), (0, .rollback, 6),
            (.max, .ok, .max), (7, .rollback, .max),
        ] as [(UInt32, CounterFinding, UInt32)] {
            passkey.count = sent
            #expect(try await bench.signIn(passkey).signer?.counter == finding)
            #expect(try await count() == stored)
        }
        #expect(try await bench.fixture.count(.counterRolledBack) == 4)
        #expect(
            try await bench.signIn(passkey, policy: PasskeyPolicy(counter: .deny)).denial
                == .counter)
        // The passkey changes into one that can be copied; this is reported once.
        passkey.count = .max
        passkey.flags = 0x1d
        for _ in 0..<2 { #expect(try await bench.signIn(passkey).isAccepted) }
        #expect(try await bench.fixture.count(.backupChanged) == 1)
        // The user has to learn of both events.
        let reported = try await bench.fixture.events().filter(\.isNotification).map(\.kind)
        #expect(reported.filter { $0 == .backupChanged }.count == 1)
        #expect(reported.filter { $0 == .counterRolledBack }.count == 7)
    }

    @Test("the signalled ids are those of active passkeys; none while a registration is pending")
    func signal() async throws {
        let bench = try PasskeyFixture()
        let passkey = try TestPasskey()
        let credential = try await bench.register(passkey)
        let grant = try await bench.begun()
        #expect(try await bench.passkeys.signal(for: bench.alice) == .pending)
        bench.fixture.clock.now = grant.expiresAt
        func expected(_ ids: [[UInt8]]) -> PasskeySignal {
            .accepted(
                relyingPartyID: "mill.example", userHandle: grant.options.userHandle, ids: ids)
        }
        #expect(try await bench.passkeys.signal(for: bench.alice) == expected([passkey.id]))
        _ = try await bench.fixture.verifier.revoke(credential)
        #expect(try await bench.passkeys.signal(for: bench.alice) == expected([]))
    }
}
