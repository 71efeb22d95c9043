import StoreContract
import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

/// The effects that an attacker without an API key can have.
@Suite("Denied device requests")
struct DenialTests {
    private static let attacker = Origin(address: "203.0.113.5")

    /// The attacker's attempts.
    private enum Try: CaseIterable {
        case madeUpSecret, unknownCredential, unknownTicket
    }

    /// Tries something that must be denied; returns `false` if the attempt was refused by the rate
    /// limit.
    private func attempt(
        _ kind: Try, on device: TestDevice, _ fixture: VerifierFixture,
        from origin: Origin = attacker
    ) async throws -> Bool {
        do {
            switch kind {
            case .madeUpSecret, .unknownCredential:
                let nonce = try #require(
                    RotationNonce(bytes: [UInt8](repeating: 9, count: RotationNonce.count)))
                let outcome = try await fixture.verifier.login(
                    kind == .madeUpSecret ? device.credential : .sample(77),
                    secret: device.withSecretMadeUp().secret, nonce: nonce, origin: origin,
                    recorder: Recorder(key: Self.key, request: Self.key) { _ in
                        SecretBytes(text: "denied")
                    })
                #expect(outcome.isDenied)
                #expect(outcome.wipe == nil)
            case .unknownTicket:
                let ticket = Token(
                    .enrolmentTicket,
                    Randomness.secret(count: Token.Kind.enrolmentTicket.count))
                let outcome = try await fixture.verifier.redeemEnrolment(ticket, origin: origin)
                #expect(outcome.value == nil)
            }
            return true
        } catch VerifierError.tooManyDenials(let seconds) {
            #expect((1...60).contains(seconds))
            return false
        }
    }

    private static let key = [UInt8](repeating: 3, count: 32)

    func denials(_ fixture: VerifierFixture) async throws -> [Event] {
        try await fixture.events().filter { $0.kind == .denied }
    }

    @Test("O-08 a day of denials at the permitted rate causes one event per minute and reason")
    func day() async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        let before = try await fixture.verifier.events(after: 0, limit: .max).count
        var answered = 0
        let minutes = 24 * 60
        for _ in 0..<minutes {
            for turn in 0..<Policy.maximumDenials {
                let kind = Try.allCases[turn % Try.allCases.count]
                if try await attempt(kind, on: device, fixture) { answered += 1 }
            }
            // Attempts beyond the permitted rate are refused and write nothing.
            for kind in Try.allCases { #expect(try await !attempt(kind, on: device, fixture)) }
            fixture.clock.advance(seconds: 60)
            try await fixture.verifier.writeCountedDenials()
        }
        try await fixture.verifier.writeCountedDenials(atEnd: true)
        #expect(answered == minutes * Policy.maximumDenials)
        let events = try await fixture.verifier.events(after: 0, limit: .max).dropFirst(before)
        let bytes = events.map { $0.body.count + $0.digest.count + 40 }.reduce(0, +)
        print("a day of denials: \(answered) denials, \(events.count) events, \(bytes) bytes")
        // There are two reasons, and the last count of each is written at shutdown.
        #expect(events.count <= 2 * minutes + 2)
        #expect(bytes < 1_000_000)
        // The counts in the events cover every denial.
        let counted = events.compactMap { $0.event.map { $0.number ?? 1 } }.reduce(0, +)
        #expect(counted == Int64(answered))
        // No response is recorded, and the device's own secret works as before.
        #expect(try await fixture.store.answer(key: Self.key) == nil)
        #expect(try await fixture.login(device, nonce: 1).acceptance != nil)
    }

    @Test("O-08 the first denial is written at once, later denials once per minute and reason")
    func minute() async throws {
        let fixture = try VerifierFixture(at: 1_795_000_020)
        let device = try await fixture.enrolledDevice()
        #expect(try await attempt(.madeUpSecret, on: device, fixture))
        let first = try #require(try await denials(fixture).first)
        #expect(first.reason == .wrong && first.number == nil)
        #expect(first.credential == device.credential)
        #expect(first.origin == Self.attacker)
        for kind in [Try.madeUpSecret, .madeUpSecret, .unknownCredential, .unknownTicket] {
            #expect(try await attempt(kind, on: device, fixture))
        }
        #expect(try await denials(fixture).count == 1)
        // A reason that was already written in this minute is not due yet.
        try await fixture.verifier.writeCountedDenials()
        #expect(try await denials(fixture).map(\.reason) == [.wrong, .unknown])
        fixture.clock.advance(seconds: 60)
        try await fixture.verifier.writeCountedDenials()
        let all = try await denials(fixture)
        #expect(all.map(\.reason) == [.wrong, .unknown, .wrong])
        #expect(all.map(\.number) == [nil, 2, 2])
        // With two credentials under one reason, the event names none.
        #expect(all.map(\.credential) == [device.credential, nil, device.credential])
        // Nothing is left to write, and an idle sender is forgotten.
        fixture.clock.advance(seconds: 60)
        try await fixture.verifier.writeCountedDenials()
        #expect(try await denials(fixture).count == 3)
        #expect(fixture.verifier.denials.count == 0)
    }

    @Test("O-08 the first denial of the next minute writes the count of the previous minute")
    func carried() async throws {
        let fixture = try VerifierFixture(at: 1_795_000_020)
        let device = try await fixture.enrolledDevice()
        for _ in 0..<5 { #expect(try await attempt(.madeUpSecret, on: device, fixture)) }
        fixture.clock.advance(seconds: 60)
        #expect(try await attempt(.madeUpSecret, on: device, fixture))
        #expect(try await denials(fixture).map(\.number) == [nil, 5])
        try await fixture.verifier.writeCountedDenials()
        #expect(try await denials(fixture).count == 2)
    }

    @Test("O-08 the holder of a secret can sign in from a rate-limited address")
    func neighbour() async throws {
        let fixture = try VerifierFixture(at: 1_795_000_020)
        let device = try await fixture.enrolledDevice()
        for _ in 0..<Policy.maximumDenials {
            #expect(try await attempt(.madeUpSecret, on: device, fixture))
        }
        #expect(try await !attempt(.madeUpSecret, on: device, fixture))
        let grant = try await fixture.ticket()
        let redeemed = try await fixture.verifier.redeemEnrolment(
            grant.ticket, origin: Self.attacker)
        #expect(redeemed.value != nil)
        let nonce = try #require(
            RotationNonce(bytes: [UInt8](repeating: 1, count: RotationNonce.count)))
        func login() async throws -> LoginOutcome {
            try await fixture.verifier.login(
                device.credential, secret: device.secret, nonce: nonce, origin: Self.attacker)
        }
        #expect(try await login().acceptance != nil)
        // The holder of a secret also learns that it was revoked.
        #expect(try await fixture.verifier.revoke(device.credential) == .done)
        for _ in 0..<3 { #expect(try await login().wipe == .revoked) }
        #expect(try await fixture.count(.wiped) == 1)
        // Another address has its own limit.
        let other = Origin(address: "203.0.113.6")
        #expect(try await attempt(.madeUpSecret, on: device, fixture, from: other))
    }

    @Test("O-08 an IPv6 network counts as one sender; senders beyond the capacity share one limit")
    func addresses() async throws {
        let fixture = try VerifierFixture(at: 1_795_000_020)
        let device = try await fixture.enrolledDevice()
        for number in 0..<Policy.maximumDenials {
            let origin = Origin(address: "2001:db8::\(number)")
            #expect(try await attempt(.unknownTicket, on: device, fixture, from: origin))
        }
        let same = Origin(address: "2001:db8::ffff")
        #expect(try await !attempt(.unknownTicket, on: device, fixture, from: same))
        #expect(fixture.verifier.denials.count == 1)

        let book = DenialCounter(capacity: 10)
        let event = Event(.denied, reason: .unknown, time: fixture.clock.now, origin: Self.attacker)
        var refused = 0
        for number in 0..<1_000 {
            let origin = Origin(address: "198.51.\(number / 250).\(number % 250)")
            let sender = try #require(DenialCounter.Sender(strangerAt: origin))
            if case .refused = book.enter(event, by: sender) { refused += 1 }
        }
        #expect(book.count == 11)
        #expect(refused == 1_000 - 10 - Policy.maximumDenials)
        let due = book.takeDue(at: fixture.clock.now, all: true)
        #expect(due.map(\.line.count) == [Policy.maximumDenials - 1])
        #expect(due.first?.line.last.origin == .unknown)
    }

    @Test("O-08 counts that could not be written are written later")
    func failing() async throws {
        var faulty: FaultyStore?
        let fixture = try VerifierFixture(
            at: 1_795_000_020,
            wrapping: { memory in
                let store = FaultyStore(memory)
                faulty = store
                return store
            })
        let store = try #require(faulty)
        let device = try await fixture.enrolledDevice()
        for _ in 0..<5 { #expect(try await attempt(.madeUpSecret, on: device, fixture)) }
        fixture.clock.advance(seconds: 60)
        await store.die(.beforeCommit)
        await #expect(throws: VerifierError.self) {
            try await fixture.verifier.writeCountedDenials()
        }
        try await fixture.verifier.writeCountedDenials()
        #expect(try await denials(fixture).map(\.number) == [nil, 4])
    }

    static let shop = ClientID(bytes: [UInt8](repeating: 5, count: 16))

    /// Presents a code through an application.
    private func present(
        _ code: PresentedCode, of subject: Subject, from address: String = "203.0.113.7",
        _ fixture: VerifierFixture
    ) async throws -> VerificationOutcome.Denial? {
        try await fixture.verifier.verify(
            code, subject: subject, origin: Origin(address: address, client: Self.shop)
        ).denial
    }

    @Test("O-08 only denials of unchecked codes are added up per reason and minute")
    func codes() async throws {
        let fixture = try VerifierFixture(at: 1_795_000_020)
        let bob = try #require(Subject("bob"))
        let ours = try await fixture.enrolled()
        _ = try await fixture.enrolled(for: bob)
        let wrong = try ours.wrongCode(at: fixture.clock.now)
        for subject in [fixture.alice, bob] {
            for _ in 0..<Policy.failuresUntilWait {
                #expect(try await present(wrong, of: subject, fixture) == .wrong)
            }
        }
        let wrongs = 2 * Policy.failuresUntilWait
        #expect(try await denials(fixture).map(\.reason) == Array(repeating: .wrong, count: wrongs))
        for subject in [fixture.alice, bob] {
            for index in 0..<4 {
                let denial = try await present(
                    wrong, of: subject, from: "203.0.113.\(index == 3 ? 8 : 7)", fixture)
                #expect(denial == .throttled(retryAfter: Policy.firstWait))
            }
        }
        for index in 0..<9 {
            let subject = try #require(Subject("nobody \(index)"))
            #expect(try await present(wrong, of: subject, fixture) == .unknown)
        }
        // The first denial for each sender is written at once.
        var events = try await denials(fixture).dropFirst(wrongs)
        #expect(events.map(\.reason) == [.throttled, .throttled, .unknown])
        #expect(events.map(\.subject) == [fixture.alice, bob, Subject("nobody 0")])
        #expect(events.allSatisfy { $0.number == nil && $0.origin.address == "203.0.113.7" })
        try await fixture.verifier.writeCountedDenials()
        #expect(try await denials(fixture).count == 13)
        fixture.clock.advance(seconds: 60)
        try await fixture.verifier.writeCountedDenials()
        events = try await denials(fixture).dropFirst(13)
        let bySubject = Dictionary(grouping: events, by: \.subject).mapValues { $0[0] }
        #expect(events.count == 3 && bySubject.count == 3)
        for subject in [fixture.alice, bob] {
            #expect(bySubject[subject]?.reason == .throttled)
            #expect(bySubject[subject]?.number == 3)
        }
        // The fields that differ are omitted.
        #expect(bySubject[nil]?.reason == .unknown)
        #expect(bySubject[nil]?.number == 8)
        #expect(events.allSatisfy { $0.origin.client == Self.shop })
        #expect(bySubject[fixture.alice]?.origin.address == "")
        #expect(bySubject[nil]?.origin.address == "203.0.113.7")
        #expect(fixture.verifier.denials.count == 0)
    }

    @Test("O-08 by the end of a shutdown, every denial of a code has been written")
    func shutdown() async throws {
        let fixture = try VerifierFixture(at: 1_795_000_020)
        for index in 0..<100 {
            let subject = try #require(Subject("nobody \(index % 3)"))
            _ = try await present(PresentedCode(text: "123456"), of: subject, fixture)
        }
        try await fixture.verifier.writeCountedDenials(atEnd: true)
        #expect(try await denials(fixture).map(\.number) == [nil, 99])
    }

    @Test(
        "O-08 a flood of denials causes at most 64 events a minute plus one per reason",
        arguments: [true, false])
    func flood(ofCodes: Bool) throws {
        let counter = DenialCounter(limit: ofCodes ? .max : Policy.maximumDenials)
        let start = UnixTime(seconds: 1_795_000_020)
        let (minutes, senders) = (5, 1_200)
        var (events, denials) = ([Event](), 0)
        func event(_ reason: Event.Reason, _ number: Int, at now: UnixTime) -> Event {
            // Every field has its maximum length.
            Event(
                .denied, reason: reason, time: now,
                subject: Subject(String(repeating: "s", count: 251) + String(1_000 + number)),
                credential: .sample(number),
                verification: VerificationID(bytes: sampleBytes(number, count: 16)),
                origin: Origin(
                    address: "2001:db8:\(String(number, radix: 16))::1",
                    userAgent: String(repeating: "u", count: 256), client: Self.shop))
        }
        let reasons: [Event.Reason] =
            ofCodes
            ? [
                .throttled, .disabled, .unknown, .expired, .challenge, .revoked, .otherAudience,
            ]
            : [.wrong, .unknown, .expired, .signature, .challenge, .audience, .presence, .origin]
        for second in stride(from: Int64(0), to: Int64(60 * minutes), by: 10) {
            let now = start.adding(seconds: second)
            for number in 0..<senders {
                for reason in reasons {
                    let denial = event(reason, number, at: now)
                    let sender =
                        ofCodes
                        ? DenialCounter.Sender(uncheckedIn: denial)
                        : .init(strangerAt: Origin(address: denial.origin.address))
                    switch counter.enter(denial, by: try #require(sender)) {
                    case .written(let count):
                        events += CountedDenial(sender: .others, event: denial).events(count: count)
                        denials += 1
                    case .counted: denials += 1
                    case .refused: #expect(!ofCodes)
                    }
                }
            }
            if second % 60 == 30 {
                events += counter.takeDue(at: now, all: false).map { $0.line.event(at: now) }
            }
        }
        #expect(counter.count <= 1_025)
        events += counter.takeDue(at: start, all: true).map { $0.line.event(at: start) }
        #expect(events.map { $0.number ?? 1 }.reduce(0, +) == Int64(denials))
        let perMinute = 2 * DenialCounter.maximumEvents + reasons.count
        #expect(events.count <= perMinute * minutes + DenialCounter.maximumEvents + reasons.count)
        let bytes = events.map { RecordedEvent($0).encoded.count }
        print(
            "a flood of \(denials) denials: \(events.count) events in \(minutes) minutes, "
                + "of \(bytes.reduce(0, +) / bytes.count) bytes, at most \(bytes.max() ?? 0)")
    }

    @Test("O-02 a denial that changes a row is always written, with the row's version")
    func restarted() async throws {
        let fixture = try VerifierFixture(at: 1_795_000_020)
        let authenticator = try await fixture.enrolled()
        let wrong = try authenticator.wrongCode(at: fixture.clock.now)
        for _ in 0...Policy.failuresUntilWait {
            _ = try await present(wrong, of: fixture.alice, fixture)
        }
        let start = fixture.clock.now
        fixture.clock.advance(seconds: 3_600)
        #expect(try await present(wrong, of: fixture.alice, fixture) == .wrong)
        // The clock is set back into the minute in which a denial with this reason was already
        // written.
        fixture.clock.now = start
        let before = try await denials(fixture).count
        guard case .throttled = try await present(wrong, of: fixture.alice, fixture) else {
            Issue.record("a code was checked")
            return
        }
        #expect(try await denials(fixture).count == before + 1)
        let row = try #require(await fixture.store.credential(authenticator.credential))
        let last = try #require(try await fixture.store.events(after: 0, limit: .max).last)
        #expect(last.recorded?.rows.map(\.version) == [row.version])
    }

    @Test(
        "N-38 V-06 a request without the secret gets no wipe order for an expired credential",
        arguments: [90, 365] as [Int64])
    func expired(days: Int64) async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        let other = try await fixture.enrolledDevice()
        fixture.clock.advance(seconds: days * 86_400)
        let strangers = [
            device.withSecretMadeUp(),
            // This server issued the secret for a different credential.
            device.with(other.secret),
        ]
        for (nonce, stranger) in strangers.enumerated() {
            let outcome = try await fixture.login(stranger, nonce: UInt8(nonce))
            #expect(outcome.isDenied)
            #expect(outcome.wipe == nil)
        }
        #expect(try await fixture.count(.wiped) == 0)
    }
}
