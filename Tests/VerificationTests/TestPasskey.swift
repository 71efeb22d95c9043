import Attestation
import Cryptography
import TestSupport
import Testing

@testable import Verification

/// An authenticator in software, and the browser in front of it; a test changes what they say.
struct TestPasskey: Sendable {
    let key: SigningKey
    var id = [UInt8](repeating: 7, count: 16)
    /// The id that the browser states, if it is not ``id``.
    var statedID: [UInt8]?
    var relyingPartyID = "mill.example"
    /// UP and UV.
    var flags: UInt8 = 0x05
    var count: UInt32 = 0
    var model = [UInt8](repeating: 0, count: 16)
    var type: String?
    var challenge: [UInt8]?
    var origin = "https://mill.example"
    var isCrossOrigin = false
    var topOrigin: String?
    var hasClientData = true
    var userHandle: [UInt8]?
    var format = "none"
    var algorithm: Int64 = -7
    /// Bytes after the authenticator data.
    var rest: [UInt8] = []
    /// Whether the signature covers other client data.
    var signsOtherData = false
    var signature: [UInt8]?

    static let attested: UInt8 = 0x40

    init() throws { key = try SigningKey.make() }

    /// The response of the browser to `navigator.credentials.create`.
    func created(_ options: CreationOptions) throws -> RegistrationResponse {
        let point = key.point
        let publicKey = EncodedCBOR.numbered([
            1: .integer(2), 3: .integer(algorithm), -1: .integer(1),
            -2: .bytes(Array(point[1..<33])), -3: .bytes(Array(point[33...])),
        ])
        var data = try header(flags | Self.attested)
        data += model
        data += [UInt8(id.count >> 8), UInt8(id.count & 0xff)]
        data += id
        data += publicKey.encoded
        data += rest
        let object = EncodedCBOR.named([
            "fmt": .text(format), "attStmt": .map([]), "authData": .bytes(data),
        ])
        return RegistrationResponse(
            credentialID: statedID ?? id,
            clientData: try clientData("webauthn.create", options.challenge),
            attestationObject: object.encoded, transports: ["internal", "hybrid"])
    }

    /// The response of the browser to `navigator.credentials.get`.
    func signed(_ options: RequestOptions) throws -> AssertionResponse {
        let data = try header(flags) + rest
        let clientData = try clientData("webauthn.get", options.challenge)
        let signedJSON = Array((signsOtherData ? "other" : Self.json).utf8)
        let message = data + (try sha256(signedJSON.span))
        let made = try key.sign(message.span)
        return AssertionResponse(
            credentialID: statedID ?? id, clientData: clientData, authenticatorData: data,
            signature: signature ?? made, userHandle: userHandle)
    }

    private static let json = "{}"

    private func clientData(_ type: String, _ challenge: [UInt8]) throws -> ClientData? {
        guard hasClientData else { return nil }
        let bytes = self.challenge ?? challenge
        let json = Array(Self.json.utf8)
        return ClientData(
            type: self.type ?? type,
            challenge: Base64URL.encode(bytes.span), origin: origin,
            isCrossOrigin: isCrossOrigin, topOrigin: topOrigin,
            digest: try sha256(json.span))
    }

    private func header(_ flags: UInt8) throws -> [UInt8] {
        var bytes = try sha256(Array(relyingPartyID.utf8).span)
        bytes.append(flags)
        for shift: UInt32 in [24, 16, 8, 0] {
            bytes.append(UInt8(truncatingIfNeeded: count >> shift))
        }
        return bytes
    }
}

/// A server with passkeys, on a store in memory.
struct PasskeyFixture {
    let fixture: VerifierFixture
    let passkeys: Passkeys
    let relyingParty: RelyingParty

    init(topOrigins: [String] = [], algorithms: [SignatureAlgorithm] = [.es256, .rs256]) throws {
        fixture = try VerifierFixture()
        relyingParty = try RelyingParty(
            ids: ["mill.example"], name: "Paper Mill",
            origins: ["https://mill.example", "https://login.mill.example:8443"],
            topOrigins: topOrigins, algorithms: algorithms)
        passkeys = Passkeys(fixture.verifier, for: relyingParty)
    }

    var alice: Subject { fixture.alice }

    /// The same, as in another process.
    var other: Passkeys { Passkeys(fixture.anotherVerifier(), for: relyingParty) }

    func begun(
        _ subject: Subject? = nil, policy: PasskeyPolicy = .standard,
        replacing replaced: CredentialID? = nil
    ) async throws -> PasskeyGrant {
        let outcome = try await passkeys.beginRegistration(
            for: subject ?? alice, policy: policy, replacing: replaced)
        guard case .granted(let grant) = outcome else { throw BenchError.refused }
        return grant
    }

    /// Registers a passkey.
    @discardableResult func register(
        _ passkey: TestPasskey, for subject: Subject? = nil, policy: PasskeyPolicy = .standard
    ) async throws -> CredentialID {
        let grant = try await begun(subject, policy: policy)
        let outcome = try await passkeys.finishRegistration(
            of: grant.credential, with: passkey.created(grant.options))
        guard case .accepted = outcome else { throw BenchError.refused }
        return grant.credential
    }

    /// Signs in, with a new ceremony.
    func signIn(
        _ passkey: TestPasskey, as subject: Subject? = nil, policy: PasskeyPolicy = .standard,
        device: Token? = nil
    ) async throws -> AssertionOutcome {
        let ceremony = try await passkeys.beginAuthentication(for: subject ?? alice, policy: policy)
        return try await passkeys.finishAuthentication(
            ceremony.token, with: passkey.signed(ceremony.options), device: device)
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
