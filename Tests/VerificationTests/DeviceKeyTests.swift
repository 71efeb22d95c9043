import StoreContract
import Testing
import WatchwordCryptography

@testable import Verification

/// Registrations of device keys, and their signatures.
@Suite("Device keys")
struct DeviceKeyTests {
    private let fixture: VerifierFixture
    private let keys: DeviceKeys
    private let device: TestDeviceKey

    init() throws {
        fixture = try VerifierFixture()
        keys = DeviceKeys(
            fixture.verifier, audiences: ["https://login.example", "https://other.example:8443"])
        device = try TestDeviceKey()
    }

    private func grant(
        presence: DeviceKeyTranscript.Presence = .none, replacing replaced: CredentialID? = nil
    ) async throws -> DeviceKeyGrant {
        let grant = try await keys.enrol(
            DeviceKeyEnrolment(for: fixture.alice, presence: presence, replacing: replaced)
        ).granted()
        return grant
    }

    private func registered(
        _ device: TestDeviceKey, presence: DeviceKeyTranscript.Presence = .none
    ) async throws -> CredentialID {
        let grant = try await grant(presence: presence)
        guard case .accepted(let id, _) = try await keys.register(device, grant.ticket) else {
            throw BenchError.refused
        }
        return id
    }

    private func verify(_ sent: DeviceKeySignature) async throws -> DeviceKeyOutcome {
        try await keys.verify(sent)
    }

    @Test("a key is registered once with its ticket, and replaces another credential")
    func registration() async throws {
        let old = try await fixture.enrolled().credential
        let grant = try await grant(replacing: old)
        #expect(grant.expiresAt == fixture.clock.now.adding(seconds: 600))
        #expect(
            try await keys.register(device, grant.ticket, custody: .attestedTPM)
                == .accepted(grant.credential, .tpm))
        #expect(try await fixture.summary(grant.credential).state == .active)
        #expect(try await fixture.summary(old).state == .revoked)
        #expect(try await keys.register(try TestDeviceKey(), grant.ticket) == .denied(.unknown))
    }

    @Test("a key replaces neither an unconfirmed credential nor a credential of another subject")
    func replacingPending() async throws {
        let pending = try await grant().credential
        for (id, refusal) in [(pending, .pendingCredential), (.sample(9), .unknownCredential)]
            as [(CredentialID, EnrolmentRefusal)]
        {
            let outcome = try await keys.enrol(
                DeviceKeyEnrolment(for: fixture.alice, replacing: id))
            guard case .refused(refusal) = outcome else { throw BenchError.refused }
        }
    }

    @Test("a key replaces another client's credential only if the client can manage credentials")
    func replacingForeign() async throws {
        let (shop, other) = (Origin(client: 1), Origin(client: 2))
        func enrol(
            replacing id: CredentialID, _ origin: Origin, canManage: Bool = false
        ) async throws -> DeviceKeyGrant? {
            let outcome = try await keys.enrol(
                DeviceKeyEnrolment(for: fixture.alice, replacing: id), canManage: canManage,
                origin: origin)
            switch outcome {
            case .granted(let grant): return grant
            case .refused(let refusal):
                #expect(refusal == .foreignCredential)
                return nil
            }
        }
        let old = try await fixture.enrolled().credential
        guard
            case .granted(let grant) = try await keys.enrol(
                DeviceKeyEnrolment(for: fixture.alice), origin: shop),
            case .accepted(let own, _) = try await keys.register(device, grant.ticket),
            case .granted(let ticket) = try await fixture.verifier.enrolSecret(
                for: fixture.alice, origin: shop),
            case .redeemed(let secret) = try await fixture.verifier.redeemEnrolment(
                ticket.ticket, origin: Origin(address: "192.0.2.9"))
        else { throw BenchError.refused }
        for id in [own, secret.credential] {
            #expect(try await enrol(replacing: id, other) == nil)
            #expect(try await enrol(replacing: id, .unknown) == nil)
            #expect(try await enrol(replacing: id, other, canManage: true) != nil)
        }
        // A row from an older version does not record its client.
        #expect(try await enrol(replacing: old, shop) == nil)
        let first = try #require(try await enrol(replacing: secret.credential, shop))
        #expect(try await fixture.summary(secret.credential).state == .active)
        #expect(
            try await keys.register(try TestDeviceKey(), first.ticket)
                == .accepted(first.credential, .vault))
        #expect(try await fixture.summary(secret.credential).state == .revoked)
        // The new key belongs to the same client.
        #expect(try await enrol(replacing: first.credential, other) == nil)
        #expect(try await enrol(replacing: first.credential, shop) != nil)
        let row = try #require(await fixture.store.credential(first.credential))
        var record = try CredentialRecord(row)
        record.end(as: .disabled, because: .tooManyFailures, at: fixture.clock.now)
        #expect(try await fixture.store.commit([.updateCredential(record.row)]) == .done)
        #expect(try await enrol(replacing: first.credential, shop) == nil)
        #expect(try await enrol(replacing: first.credential, shop, canManage: true) != nil)
    }

    @Test("K-76 K-77 a registration that does not match its ticket or its key is denied")
    func refusedRegistrations() async throws {
        let grant = try await grant(presence: .advisory)
        let point = device.key.point
        let other = try TestDeviceKey()
        for (wrong, reason) in [
            (Array(point.dropFirst()), .publicKey), ([2] + point[1..<33], .publicKey),
            ([0], .publicKey), ([4] + [UInt8](repeating: 0, count: 64), .publicKey),
            ([6] + point.dropFirst(), .publicKey), (other.key.point, .signature),
        ] as [([UInt8], DenialReason)] {
            #expect(
                try await keys.register(device, grant.ticket, point: wrong) == .denied(reason),
                "\(wrong.count)")
        }
        let good = try device.enrolment(grant.ticket)
        for signature in [
            [], good + [0], Array(good.dropLast()), try other.enrolment(grant.ticket),
            [UInt8](repeating: 1, count: 64),
        ] {
            #expect(
                try await keys.register(device, grant.ticket, signature: signature)
                    == .denied(.signature))
        }
        var changed = device
        changed.audience = "https://evil.example"
        #expect(try await keys.register(changed, grant.ticket) == .denied(.signature))
        changed = device
        changed.sentPresence = .enforced
        #expect(try await keys.register(changed, grant.ticket) == .denied(.signature))
        changed = device
        changed.presence = .none
        #expect(try await keys.register(changed, grant.ticket) == .denied(.presence))
        changed = device
        changed.sendsRawSignature = true
        #expect(try await keys.register(changed, grant.ticket) == .denied(.signature))
        // The signature belongs to a different ticket, or the ticket is for an enrolled secret.
        let second = try await self.grant()
        #expect(
            try await keys.register(device, second.ticket, signature: good) == .denied(.signature))
        let secret = try await fixture.ticket()
        #expect(try await keys.register(device, secret.ticket) == .denied(.expired))
        #expect(try await fixture.verifier.redeemEnrolment(grant.ticket).value == nil)
        // No denial spent the ticket.
        #expect(
            try await keys.register(device, grant.ticket) == .accepted(grant.credential, .vault))
        // The key is in use, and remains so after its credential has ended.
        #expect(try await keys.register(device, second.ticket) == .denied(.credentialKnown))
        _ = try await fixture.verifier.revoke(grant.credential)
        #expect(try await keys.register(device, second.ticket) == .denied(.credentialKnown))
        fixture.clock.now = second.expiresAt
        #expect(try await keys.register(other, second.ticket) == .denied(.expired))
    }

    @Test("a signature signs in, and the application learns of it once, with the ticket")
    func signIn() async throws {
        let id = try await registered(device)
        let challenge = try await keys.challenge(for: id)
        #expect(challenge.expiresAt == fixture.clock.now.adding(seconds: 300))
        let outcome = try await verify(device.answer(challenge, by: id))
        guard case .accepted(let login, _) = outcome.result else { throw BenchError.refused }
        let signedIn = try #require(try await fixture.verifier.redeemLogin(login).value)
        #expect(signedIn.credential == id)
        #expect(signedIn.verification == outcome.verification)
        #expect(
            signedIn.deviceKey
                == DeviceKeyFacts(
                    purpose: .signIn, textDigest: nil, custody: .vault, presence: .cryptographic))
        #expect(try await fixture.verifier.redeemLogin(login).value == nil)
        // The challenge is spent.
        #expect(try await verify(device.answer(challenge, by: id)).denial == .challenge)
    }

    @Test("a signature confirms a text, and the application receives the text's digest")
    func confirmation() async throws {
        let id = try await registered(device)
        let text = "Pay 120.00 EUR to Paper Mill"
        let challenge = try await keys.challenge(for: id, confirming: text)
        let outcome = try await verify(device.answer(challenge, by: id, text: text))
        guard case .accepted(let login, _) = outcome.result else { throw BenchError.refused }
        let facts = try await fixture.verifier.redeemLogin(login).value?.deviceKey
        #expect(facts?.purpose == .confirm)
        let digest = sha256(Array(text.utf8).span)
        #expect(facts?.textDigest == digest)
    }

    @Test(
        "N-26 K-69 K-70 K-71 K-72 K-73 K-74 K-75 K-76 a signature over any other data is denied, and the denial spends the challenge"
    )
    func swapped() async throws {
        let id = try await registered(device)
        let other = try await registered(try TestDeviceKey())
        let text = "Pay 120.00 EUR to Paper Mill"
        func outcome(
            confirming text: String? = nil, isSpent: Bool = true,
            _ answer: (DeviceKeyChallenge) throws -> DeviceKeySignature
        ) async throws -> DenialReason? {
            let challenge =
                if let text { try await keys.challenge(for: id, confirming: text) } else {
                    try await keys.challenge(for: id)
                }
            let denial = try await verify(answer(challenge)).denial
            let again = try await verify(device.answer(challenge, by: id, text: text)).denial
            #expect((again != nil) == isSpent)
            return denial
        }
        var changed = device
        // The signature covers only the nonce.
        let bare = try await outcome { challenge in
            let nonce = challenge.token.bytes.withBytes { [UInt8](copying: $0) }
            return DeviceKeySignature(
                credential: id, challenge: challenge.token, audience: device.audience,
                purpose: .signIn, presence: device.presence,
                signature: try device.key.sign(nonce.span))
        }
        #expect(bare == .signature)
        for audience in [
            "https://evil.example", "https://login.example:8443", "https://Login.example",
            "https://login.example/", "https://login.example.", "http://login.example", "",
        ] {
            changed = device
            changed.sentAudience = audience
            #expect(try await outcome { try changed.answer($0, by: id) } == .audience)
        }
        // The device sends a different server address than the address that it signed.
        changed = device
        changed.sentAudience = "https://other.example:8443"
        #expect(try await outcome { try changed.answer($0, by: id) } == .signature)
        for presence in [DeviceKeyTranscript.Presence.none, .advisory, .enforced] {
            changed = device
            changed.sentPresence = presence
            #expect(try await outcome { try changed.answer($0, by: id) } == .signature)
        }
        changed = device
        changed.sendsRawSignature = true
        #expect(try await outcome { try changed.answer($0, by: id) } == .signature)
        #expect(try await outcome { try device.answer($0, by: id, for: other) } == .signature)
        #expect(try await outcome { try device.answer($0, by: id, expiry: 0) } == .signature)
        let later = try await outcome { challenge in
            try device.answer(
                challenge, by: id, expiry: UInt64(challenge.expiresAt.milliseconds) + 1)
        }
        #expect(later == .signature)
        #expect(
            try await outcome(confirming: text) {
                try device.answer($0, by: id, text: text + " Ltd")
            } == .signature)
        // For this purpose, the challenge is unknown.
        #expect(
            try await outcome(confirming: text, isSpent: false) {
                try device.answer($0, by: id)
            } == .challenge)
        #expect(
            try await outcome { try device.answer($0, by: id, text: text, purpose: .signIn) }
                == .signature)
        // The challenge belongs to a different credential.
        #expect(try await outcome { try device.answer($0, by: other) } == .challenge)
    }

    @Test("the server's addresses have the form in which devices sign them")
    func audiences() {
        for good in [
            "https://login.example", "https://login.example:8443", "http://localhost:8420",
            "http://127.0.0.1:8420", "https://192.0.2.1", "https://[2001:db8::1]:8443",
            "http://[::1]:8420",
        ] {
            #expect(DeviceKeys.isAudience(good), "\(good)")
        }
        for wrong in [
            "", "login.example", "https://", "https://Login.example", "https://login.example/",
            "https://login.example.", "https://login.example:443", "https://login.example:0",
            "https://login.example:08443", "https://login.example:65536", "https://a.example/auth",
            "http://login.example", "http://192.0.2.1", "https://[2001:DB8::1]", "https://[::1",
            "https://2001:db8::1", "https://[192.0.2.1]", "https://user@a.example",
            "ftp://a.example",
            "https://[::1]x", "http://[2001:db8::1]", "https://a b.example",
        ] {
            #expect(!DeviceKeys.isAudience(wrong), "\(wrong)")
        }
    }

    @Test("a challenge expires, and the presence check of the policy is required")
    func limits() async throws {
        let id = try await registered(device, presence: .cryptographic)
        let challenge = try await keys.challenge(for: id)
        let late = try await keys.challenge(for: id)
        var careless = device
        careless.presence = .advisory
        #expect(try await verify(careless.answer(challenge, by: id)).denial == .presence)
        fixture.clock.now = late.expiresAt.adding(milliseconds: -1)
        #expect(try await verify(device.answer(late, by: id)).denial == nil)
        let later = try await keys.challenge(for: id)
        fixture.clock.now = later.expiresAt
        #expect(try await verify(device.answer(later, by: id)).denial == .expired)
    }

    @Test("only the holder of a revoked key is told to wipe it")
    func wipe() async throws {
        let id = try await registered(device)
        _ = try await fixture.verifier.revoke(id)
        let stranger = try TestDeviceKey()
        for (device, reason, wipe) in [
            (stranger, .signature, nil), (device, .revoked, .revoked),
        ] as [(TestDeviceKey, DenialReason, WipeReason?)] {
            let challenge = try await keys.challenge(for: id)
            let outcome = try await verify(device.answer(challenge, by: id))
            guard case .denied(reason, wipe: wipe) = outcome.result else {
                throw BenchError.refused
            }
        }
        #expect(try await fixture.count(.wiped) == 1)
    }

    @Test(
        "V-06 an unknown credential causes the same calls and decryptions as a wrong signature"
    )
    func unknown() async throws {
        let id = try await registered(device)
        let stranger = try TestDeviceKey()
        func calls(_ id: CredentialID) async throws -> [CountingStore.Call] {
            _ = await fixture.store.takeCalls()
            let challenge = try await keys.challenge(for: id)
            let openings = fixture.meter.counts[.openings] ?? 0
            #expect(
                try await verify(stranger.answer(challenge, by: id)).denial == .signature)
            #expect(fixture.meter.counts[.openings] == openings + 1)
            return await fixture.store.takeCalls()
        }
        #expect(try await calls(id) == calls(.sample(999)))
    }

    @Test(
        "V-06 K-66 an unknown credential, a wrong signature and a valid one cost one verification each"
    )
    func verifications() async throws {
        let id = try await registered(device)
        let stranger = try TestDeviceKey()
        let count = { [fixture] in fixture.meter.counts[.signatures] ?? 0 }
        for (device, id, denial) in [
            (device, id, nil), (stranger, id, .signature), (device, .sample(999), .signature),
        ] as [(TestDeviceKey, CredentialID, DenialReason?)] {
            let challenge = try await keys.challenge(for: id)
            let before = count()
            #expect(try await verify(device.answer(challenge, by: id)).denial == denial)
            #expect(count() - before == 1)
        }
        _ = try await fixture.verifier.revoke(id)
        let challenge = try await keys.challenge(for: id)
        let before = count()
        #expect(try await verify(device.answer(challenge, by: id)).denial == .revoked)
        #expect(count() - before == 1)
    }

    @Test("K-15 of fifty simultaneous answers to one challenge, one is accepted")
    func race() async throws {
        let id = try await registered(device)
        let challenge = try await keys.challenge(for: id)
        let sent = try device.answer(challenge, by: id)
        let other = DeviceKeys(fixture.anotherVerifier(), audiences: keys.audiences)
        let denials = try await withThrowingTaskGroup(of: DenialReason?.self) { group in
            for index in 0..<50 {
                group.addTask {
                    try await (index.isMultiple(of: 2) ? keys : other).verify(sent).denial
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(denials.filter { $0 == nil }.count == 1)
        #expect(denials.filter { $0 == .challenge }.count == 49)
    }
}

extension DeviceKeyOutcome {
    var denial: DenialReason? {
        guard case .denied(let reason, _) = result else { return nil }
        return reason
    }
}
