import OneTimePassword
import Synchronization
import Testing
import WatchwordCryptography

@testable import Verification

/// A verifier with an in-memory store and a clock that the test controls.
final class VerifierFixture: Sendable {
    let clock: TestClock
    let store: CountingStore
    let meter = WorkMeter()
    let keys: TestKeys
    let verifier: Verifier
    let auditKey: AuditKey

    static let start: Int64 = 1_795_000_000
    let alice: Subject

    init(
        policy: Policy = .standard, at seconds: Int64 = VerifierFixture.start,
        randomness: RandomSource = .system,
        wrapping wrap: (MemoryStore) -> any VerificationStore = { $0 }
    ) throws {
        let ring = try KeyRing.make()
        auditKey = ring.auditKey
        let clock = TestClock(UnixTime(seconds: seconds))
        let keys = TestKeys(ring)
        let memory = MemoryStore(node: [UInt8](repeating: 1, count: 16), key: ring.auditKey)
        self.clock = clock
        self.keys = keys
        store = CountingStore(wrap(memory))
        var verifier = Verifier(
            store: store, policy: policy, randomness: randomness, clock: { clock.now },
            keys: { await keys.ring })
        verifier.meter = meter
        self.verifier = verifier
        alice = try #require(Subject("alice"))
    }

    /// A second verifier on the same store, as in a second process.
    func anotherVerifier(policy: Policy = .standard) -> Verifier {
        let clock = clock
        let keys = keys
        return Verifier(
            store: store, policy: policy, clock: { clock.now }, keys: { await keys.ring })
    }

    /// Enrols a credential without confirming it.
    func enrol(
        _ factor: OneTimePasswordEnrolment.Factor = .time(period: 30),
        algorithm: HashAlgorithm = .sha1, digits: Int = 6, key: SecretBytes? = nil,
        for subject: Subject? = nil
    ) async throws -> TestAuthenticator {
        let enrolment = try OneTimePasswordEnrolment(
            issuer: "Watchword", account: "alice", factor: factor, algorithm: algorithm,
            digits: digits, key: key)
        let grant = try await verifier.enrolOneTimePassword(
            enrolment, for: subject ?? alice
        ).granted()
        return try TestAuthenticator(grant)
    }

    /// Enrols a credential and confirms it with the code of the current step or counter.
    func enrolled(
        _ factor: OneTimePasswordEnrolment.Factor = .time(period: 30),
        algorithm: HashAlgorithm = .sha1, digits: Int = 6, key: SecretBytes? = nil,
        for subject: Subject? = nil
    ) async throws -> TestAuthenticator {
        let authenticator = try await enrol(
            factor, algorithm: algorithm, digits: digits, key: key, for: subject)
        let code: PresentedCode
        switch factor {
        case .time: code = try authenticator.code(at: clock.now)
        case .counter(let counter): code = try authenticator.code(counter)
        }
        let outcome = try await verifier.confirm(authenticator.credential, code: code)
        guard outcome.acceptance != nil else { throw BenchError.refused }
        return authenticator
    }

    /// Presents a code for the subject `alice`.
    func verify(_ code: PresentedCode) async throws -> VerificationOutcome {
        try await verifier.verify(code, subject: alice)
    }

    func summary(_ id: CredentialID) async throws -> CredentialSummary {
        try #require(try await verifier.credential(id))
    }

    /// All events, decoded.
    func events() async throws -> [Event] {
        try await verifier.events(after: 0, limit: .max).map { try #require($0.event) }
    }

    func count(_ kind: Event.Kind) async throws -> Int {
        try await events().filter { $0.kind == kind }.count
    }
}

extension Policy {
    /// The number of failures in a row that cause the first wait by default.
    static let failuresUntilWait = standard.firstFailureWithWait
}

extension Origin {
    /// A request of the client with this number.
    init(client number: UInt8) {
        self.init(
            address: "192.0.2.1",
            client: ClientID(bytes: [UInt8](repeating: number, count: ClientID.count)))
    }
}

enum BenchError: Error {
    case refused
}

/// A clock that the test sets.
final class TestClock: Sendable {
    private let milliseconds: Atomic<Int64>

    init(_ start: UnixTime) { milliseconds = Atomic(start.milliseconds) }

    var now: UnixTime {
        get { UnixTime(milliseconds: milliseconds.load(ordering: .relaxed)) }
        set { milliseconds.store(newValue.milliseconds, ordering: .relaxed) }
    }

    func advance(seconds: Int64) { now = now.adding(seconds: seconds) }
}

/// A key ring that can change while a verifier is in use.
actor TestKeys {
    var ring: KeyRing

    init(_ ring: KeyRing) { self.ring = ring }

    func change(_ body: @Sendable (KeyRing) throws -> KeyRing) throws { ring = try body(ring) }
}

/// A user's authenticator, set up from the key URI.
struct TestAuthenticator: Sendable {
    let credential: CredentialID
    let entry: Credential

    init(credential: CredentialID, entry: Credential) {
        self.credential = credential
        self.entry = entry
    }

    init(_ grant: OneTimePasswordGrant) throws {
        credential = grant.credential
        entry = try grant.uri.withBytes { try KeyURI(parsing: $0, reading: .strict).credential }
    }

    func code(_ factor: UInt64) throws -> PresentedCode {
        try PresentedCode(text: entry.generator().code(at: factor).text)
    }

    func step(at time: UnixTime) throws -> UInt64 {
        try entry.step(atUnixTime: time.seconds)
    }

    func code(at time: UnixTime, steps: Int = 0) throws -> PresentedCode {
        let step = try #require(try step(at: time).advanced(byChecking: steps))
        return try code(step)
    }

    /// A well-formed code that matches no step or counter nearby.
    func wrongCode(at time: UnixTime) throws -> PresentedCode {
        var around: UInt64 = 0
        if case .time = entry.movingFactor { around = try step(at: time) }
        for number in 1_000_000..<2_000_000 {
            let digits = Array(String(number).utf8.dropFirst())
            let found = entry.generator().match(
                digits.span, around: around, behind: 130, ahead: 130)
            if found == nil {
                return try PresentedCode(text: String(decoding: digits, as: UTF8.self))
            }
        }
        throw BenchError.refused
    }
}

extension PresentedCode {
    init(text: String) throws(VerifierError) {
        let characters = Array(text.utf8)
        try self.init(characters.span)
    }
}

extension VerificationOutcome {
    var acceptance: Acceptance? {
        if case .accepted(let acceptance) = result { acceptance } else { nil }
    }

    var denial: Denial? { if case .denied(let denial) = result { denial } else { nil } }

    var isThrottled: Bool { if case .throttled = denial { true } else { false } }
}

extension VerificationRequest {
    /// Creates a request with all claims that a client may make about a code.
    init(
        _ code: PresentedCode, of subject: Subject, credential: CredentialID? = nil,
        counter: UInt64? = nil, device: Token? = nil, remembersDevice: Bool = false
    ) {
        self.init(code, of: subject)
        self.credential = credential
        self.counter = counter
        self.device = device
        self.remembersDevice = remembersDevice
    }
}

extension EnrolmentOutcome {
    /// The grant of an accepted enrolment.
    func granted() throws -> Grant {
        guard case .granted(let grant) = self else { throw BenchError.refused }
        return grant
    }
}
