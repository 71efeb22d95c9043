import JSONReading
import PasskeyVerification
import Verification
import WatchwordCryptography

/// Alternates between wrong signatures and credentials that do not exist, whose times must be
/// indistinguishable.
struct SignatureDenials {
    /// The kind of credential.
    enum Credentials: String {
        case passkeys, keys
    }

    private let place: Place
    private let count: Int
    private static let audience = "https://mill.example"
    private static let now = UnixTime(seconds: Population.start + 86_400)

    /// One request, whose time is measured.
    private typealias Request = () async throws -> Void

    init(_ place: Place, _ count: Int) {
        self.place = place
        self.count = count
    }

    func run(_ credentials: Credentials) async throws {
        let store = try place.open()
        let verifier = Verifier(store: store, keys: place.keys) { Self.now }
        let prepare =
            switch credentials {
            case .passkeys: try await preparePasskeys(store, verifier)
            case .keys: try await prepareKeys(verifier)
            }
        var times: [Denials.Kind: [Int64]] = [:]
        for index in 0..<count {
            let kinds = Denials.Kind.allCases
            // Alternate which kind comes first.
            for kind in index.isMultiple(of: 2) ? kinds : kinds.reversed() {
                let request = try await prepare(kind, index)
                let start = ContinuousClock.now
                try await request()
                times[kind, default: []].append((ContinuousClock.now - start).nanoseconds)
            }
        }
        Denials.say(times)
        try place.close(store)
    }

    private func preparePasskeys(
        _ store: any VerificationStore, _ verifier: Verifier
    ) async throws -> (Denials.Kind, Int) async throws -> Request {
        let population = try PasskeyPopulation(count: count)
        try await population.fill(store, keys: place.keys, batch: 480)
        let passkeys = try PasskeyPopulation.passkeys(verifier)
        return { kind, number in
            let subject =
                kind == .wrong ? try population.subject(number) : Subject("unknown-\(number)")
            let ceremony = try await passkeys.beginAuthentication(CeremonyRequest(for: subject))
            guard let id = ceremony.options.allowed.first?.id else {
                throw BenchmarkError.refused
            }
            let challenge = ceremony.options.challenge
            let body = try population.signed(
                id, challenge, by: population.signature([UInt8(number % 256)]))
            let response = try AssertionResponse.read(try readJSON(body.span)).response()
            return {
                let outcome = try await passkeys.finishAuthentication(
                    SentAssertion(response, for: ceremony.token))
                guard case .denied(kind == .wrong ? .signature : .unknown) = outcome.result else {
                    throw BenchmarkError.wrongAnswer
                }
            }
        }
    }

    private func prepareKeys(
        _ verifier: Verifier
    ) async throws -> (Denials.Kind, Int) async throws -> Request {
        let keys = DeviceKeys(verifier, audiences: [Self.audience])
        let stranger = try SigningKey.make()
        var credentials: [CredentialID] = []
        for number in 0..<count {
            credentials.append(try await Self.register(keys, number))
        }
        return { [credentials] kind, number in
            let credential = kind == .wrong ? credentials[number] : CredentialID.anywhere()
            let challenge = try await keys.challenge(for: credential)
            let sent = DeviceKeySignature(
                credential: credential, challenge: challenge.token, audience: Self.audience,
                purpose: .signIn, presence: .none,
                signature: try stranger.sign([UInt8(number % 256)].span))
            return {
                let outcome = try await keys.verify(sent)
                guard case .denied(.signature, _) = outcome.result else {
                    throw BenchmarkError.wrongAnswer
                }
            }
        }
    }

    private static func register(_ keys: DeviceKeys, _ number: Int) async throws -> CredentialID {
        guard let subject = Subject("person-\(number)"),
            case .granted(let grant) = try await keys.enrol(DeviceKeyEnrolment(for: subject)),
            let scope = DeviceKeyTranscript.Scope(audience: audience, presence: .none)
        else { throw BenchmarkError.refused }
        let key = try SigningKey.make()
        let transcript = DeviceKeyTranscript.enrolment(
            scope, ticket: grant.ticket.text, point: key.point)
        let outcome = try await keys.register(
            SentDeviceKey(
                point: key.point, signature: key.sign(transcript.bytes.span), presence: .none,
                custody: .vault), with: grant.ticket)
        guard case .accepted = outcome else { throw BenchmarkError.refused }
        return grant.credential
    }
}
