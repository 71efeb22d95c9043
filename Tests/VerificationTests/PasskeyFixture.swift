import JSONReading
import TestSupport
import Testing
import WatchwordCoding
import WatchwordCryptography

@testable import PasskeyVerification
@testable import Verification

extension TestPasskey {
    /// The response of the browser to `navigator.credentials.create`.
    func created(_ options: CreationOptions) throws -> RegistrationResponse {
        try RegistrationResponse.read(json(createdJSON(options.challenge))).response()
    }

    /// The response of the browser to `navigator.credentials.get`.
    func signed(_ options: RequestOptions) throws -> AssertionResponse {
        try AssertionResponse.read(json(signedJSON(options.challenge))).response()
    }

    private func json(_ text: String) throws -> JSONValue { try readJSON(Array(text.utf8).span) }
}

/// A server with passkeys, on a store in memory.
struct PasskeyFixture {
    let fixture: VerifierFixture
    let passkeys: Passkeys
    let relyingParty: RelyingParty

    /// - Parameter apps: names of Android apps.
    init(
        apps: [String] = [], topOrigins: [String] = [],
        algorithms: [SignatureAlgorithm] = [.es256, .rs256]
    ) throws {
        fixture = try VerifierFixture()
        relyingParty = try RelyingParty(
            ids: ["mill.example"], name: "Paper Mill",
            origins: ["https://mill.example", "https://login.mill.example:8443"] + apps,
            topOrigins: topOrigins, algorithms: algorithms)
        passkeys = Passkeys(fixture.verifier, for: relyingParty)
    }

    private init(_ other: PasskeyFixture, offering algorithms: [SignatureAlgorithm]) throws {
        fixture = other.fixture
        relyingParty = try RelyingParty(
            ids: other.relyingParty.ids, name: "Paper Mill", origins: ["https://mill.example"],
            algorithms: algorithms)
        passkeys = Passkeys(fixture.verifier, for: relyingParty)
    }

    /// The same rows with a server that offers different algorithms, as after a restart.
    func restarted(offering algorithms: [SignatureAlgorithm]) throws -> PasskeyFixture {
        try PasskeyFixture(self, offering: algorithms)
    }

    var alice: Subject { fixture.alice }

    /// The same, as in another process.
    var other: Passkeys { Passkeys(fixture.anotherVerifier(), for: relyingParty) }

    func begun(
        _ subject: Subject? = nil, policy: PasskeyPolicy = .standard,
        replacing replaced: CredentialID? = nil
    ) async throws -> PasskeyGrant {
        let grant = try await passkeys.beginRegistration(
            PasskeyEnrolment(for: subject ?? alice, policy: policy, replacing: replaced)
        ).granted()
        return grant
    }

    @discardableResult func register(
        _ passkey: TestPasskey, for subject: Subject? = nil, policy: PasskeyPolicy = .standard
    ) async throws -> CredentialID {
        let grant = try await begun(subject, policy: policy)
        guard case .accepted = try await finish(grant, passkey) else { throw BenchError.refused }
        return grant.credential
    }

    /// Finishes a registration with the browser's response to its options.
    func finish(
        _ grant: PasskeyGrant, _ passkey: TestPasskey
    ) async throws -> RegistrationOutcome? {
        try await passkeys.finishRegistration(
            of: grant.credential, with: passkey.created(grant.options))
    }

    /// Finishes a ceremony with the browser's response to its options.
    func finish(
        _ ceremony: PasskeyCeremony, _ passkey: TestPasskey
    ) async throws -> AssertionOutcome {
        try await passkeys.finishAuthentication(
            SentAssertion(passkey.signed(ceremony.options), for: ceremony.token))
    }

    /// Changes the stored state of a passkey since its registration.
    func change(
        _ credential: CredentialID, _ change: (RegisteredPasskey) -> RegisteredPasskey
    ) async throws {
        let row = try #require(try await fixture.store.credential(credential))
        var record = try CredentialRecord(row)
        guard case .passkey(let state) = record.material else { throw BenchError.refused }
        let key = await fixture.keys.ring.current
        let passkey = try state.open(for: record.place, under: key)
        record.material = .passkey(
            PasskeyState(
                sealing: change(passkey), count: state.count, for: record.place, under: key))
        guard try await fixture.store.commit([.updateCredential(record.row)]) == .done else {
            throw BenchError.refused
        }
    }

    /// Signs in, with a new ceremony.
    func signIn(
        _ passkey: TestPasskey, as subject: Subject? = nil, policy: PasskeyPolicy = .standard,
        device: Token? = nil
    ) async throws -> AssertionOutcome {
        let ceremony = try await passkeys.beginAuthentication(
            CeremonyRequest(for: subject ?? alice, policy: policy))
        return try await passkeys.finishAuthentication(
            SentAssertion(passkey.signed(ceremony.options), for: ceremony.token, device: device))
    }
}

extension RegisteredPasskey {
    func with(publicKey: [UInt8]) -> RegisteredPasskey {
        var changed = self
        changed.publicKey = publicKey
        return changed
    }
}

extension VerifierFixture {
    /// The stored state of an active passkey.
    func registeredPasskey(_ id: CredentialID) async throws -> RegisteredPasskey {
        let record = try CredentialRecord(#require(try await store.credential(id)))
        guard case .passkey(let state) = record.material else { throw BenchError.refused }
        return try state.open(for: record.place, under: await keys.ring.current)
    }
}

extension AssertionOutcome {
    var denial: DenialReason? {
        guard case .denied(let reason) = result else { return nil }
        return reason
    }

    var signer: Signer? {
        guard case .signed(let signer, _) = result else { return nil }
        return signer
    }

    var stepUp: [StepUpReason]? {
        guard case .signed(_, let reasons) = result else { return nil }
        return reasons
    }

    var isAccepted: Bool { stepUp == [] }
}
