import TestSupport
import Testing

@testable import Verification

@Suite("Events")
struct EventTests {
    @Test("V-29 V-33 the audit log records a credential's whole life, in order and with reasons")
    func life() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        let code = try authenticator.code(at: fixture.clock.now)
        _ = try await fixture.verify(code)
        _ = try await fixture.verify(code)
        let wrong = try authenticator.wrongCode(at: fixture.clock.now)
        let failures = Policy.failuresUntilWait
        for _ in 0..<failures { _ = try await fixture.verify(wrong) }
        _ = try await fixture.verify(wrong)
        _ = try await fixture.verifier.unlock(authenticator.credential)
        _ = try await fixture.verifier.rename(authenticator.credential, to: "x")
        _ = try await fixture.verifier.revoke(authenticator.credential)
        _ = try await fixture.verify(wrong)
        let events = try await fixture.events()
        let denied = [Event.Kind](repeating: .denied, count: failures - 1)
        #expect(
            events.map(\.kind) == [.enrolmentStarted, .enrolled, .accepted, .replayed] + denied
                + [.locked, .denied, .denied, .unlocked, .renamed, .revoked, .denied])
        #expect(
            events.filter { $0.kind == .denied }.map(\.reason)
                == Array(repeating: .wrong, count: failures) + [.throttled, .unknown])
        #expect(events.allSatisfy { $0.subject == fixture.alice })
        #expect(events.allSatisfy { $0.verification != nil })
    }

    @Test("N-36 N-33 a new binding, a revocation and a wipe notify the user; a denial does not")
    func notifications() async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        _ = try await fixture.login(device, nonce: 1)
        _ = try await fixture.login(device, nonce: 2)
        let events = try await fixture.events()
        #expect(
            events.map(\.kind)
                == [.enrolmentStarted, .enrolled, .accepted, .denied, .revoked, .wiped])
        #expect(events.map(\.isNotification) == [false, true, false, false, true, true])
        #expect(events.last?.reason == .reuseDetected)
    }

    @Test("V-30 the events of a verifier form an unbroken chain, whatever text they contain")
    func chain() async throws {
        let fixture = try VerifierFixture()
        let subject = try #require(Subject("a\r\n{\"event\":\"accepted\"}"))
        let origin = Origin(address: "::1\r\nX-Evil: 1", userAgent: "\u{1b}[2J")
        for _ in 0..<20 {
            _ = try await fixture.verifier.verify(
                PresentedCode(text: "123456"), subject: subject, origin: origin)
        }
        var trail = AuditTrail(chains: try await fixture.store.chains(), key: fixture.auditKey)
        for event in try await fixture.verifier.events(after: 0, limit: .max) {
            trail.check(event)
        }
        #expect(trail.findings() == [])
        let event = try #require(try await fixture.events().first)
        #expect(event.subject == subject)
        #expect(event.origin == origin)
    }

    @Test("pruning removes the oldest events and leaves a valid chain")
    func pruning() async throws {
        let fixture = try VerifierFixture()
        for _ in 0..<10 {
            _ = try await fixture.verify(PresentedCode(text: "123456"))
            fixture.clock.advance(seconds: 60)
        }
        #expect(try await fixture.verifier.prune(keepingEventsFor: 300_000).events == 5)
        let left = try await fixture.verifier.events(after: 0, limit: .max)
        #expect(left.count == 5)
        var trail = AuditTrail(chains: try await fixture.store.chains(), key: fixture.auditKey)
        for event in left { trail.check(event) }
        #expect(trail.findings() == [])
    }

    @Test("V-28 no event contains a code, a key, a ticket or a secret")
    func noSecrets() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        let code = try authenticator.code(at: fixture.clock.now)
        _ = try await fixture.verify(code)
        let grant = try await fixture.ticket()
        let secret = try #require(
            try await fixture.verifier.redeemEnrolment(grant.ticket).value
        ).secret
        let device = TestDevice(credential: grant.credential, secret: secret)
        let login = try #require(try await fixture.login(device, nonce: 1).acceptance)
        let bodies = try await fixture.verifier.events(after: 0, limit: .max).map(\.body)
        for known in [
            code.characters, grant.ticket.text, secret.text, login.login.text, login.secret.text,
            grant.ticket.bytes, secret.bytes,
        ] {
            #expect(bodies.allSatisfy { !$0.contains(known.known[...]) })
        }
    }

    @Test("a ceremony is denied for one of thirty reasons, whose names never change")
    func ceremonyNames() {
        #expect(
            Event.Reason.ofCeremonies.map(\.ceremonyName) == [
                "client-data", "type", "challenge", "expired", "origin", "cross-origin",
                "top-origin", "attestation-object", "authenticator-data", "relying-party",
                "user-presence", "user-verification", "backup-flags", "not-device-bound",
                "algorithm", "public-key", "attestation-format", "attestation",
                "attestation-untrusted", "attestation-weak", "credential-id", "credential-known",
                "unknown", "revoked", "user-handle", "signature", "backup-eligibility-changed",
                "counter", "audience", "presence",
            ])
    }

    @Test("every event can be decoded from its encoding, and malformed encodings are refused")
    func encoding() throws {
        for kind in Event.Kind.allCases {
            for reason in Event.Reason.allCases.map(Optional.some) + [nil] {
                let event = RecordedEvent(
                    Event(kind, reason: reason, time: UnixTime(milliseconds: -5)))
                #expect(RecordedEvent(decoding: event.encoded) == event)
            }
        }
        let event = try EventChainTests.event(3)
        // The row of the event's own credential, the row of another credential, and the row of a
        // client.
        var rows = try [3, 4].map { number in
            var row = CredentialRecord.nobody
            row.id = try #require(CredentialID(bytes: [UInt8](repeating: UInt8(number), count: 16)))
            row.version = 7
            return RowMark(row, code: [UInt8](repeating: 0xfe, count: 16))
        }
        let client = ClientRow(
            id: [UInt8](repeating: 9, count: 16), version: 2, digest: [], name: "shop", scopes: [],
            createdAt: event.time, revokedAt: event.time)
        rows.append(RowMark(client, code: [UInt8](repeating: 0xfd, count: 16)))
        let recorded = RecordedEvent(event, rows: rows)
        let bytes = recorded.encoded
        #expect(RecordedEvent(decoding: bytes) == recorded)
        for count in bytes.indices {
            #expect(RecordedEvent(decoding: Array(bytes[..<count])) == nil)
        }
        #expect(RecordedEvent(decoding: bytes + [0]) == nil)
        #expect(RecordedEvent(decoding: [2] + bytes.dropFirst()) == nil, "a newer version")
    }
}
