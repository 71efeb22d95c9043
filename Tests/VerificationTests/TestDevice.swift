import StoreContract
import Testing
@testable import Verification
import WatchwordCryptography

/// A device's copy of an enrolled secret.
struct TestDevice: Sendable {
    let credential: CredentialID
    let secret: Token

    func with(_ secret: Token) -> TestDevice {
        TestDevice(credential: credential, secret: secret)
    }

    /// The same credential with a secret that was never issued.
    func withSecretMadeUp() -> TestDevice {
        with(Token(.secret, Randomness.secret(count: SecretParts.count)))
    }
}

extension VerifierFixture {
    /// Issues an enrolment ticket for `alice`.
    func ticket() async throws -> SecretGrant {
        let grant = try await verifier.enrolSecret(for: alice).granted()
        return grant
    }

    /// Enrols a device for `alice`.
    func enrolledDevice() async throws -> TestDevice {
        let grant = try await ticket()
        let secret = try #require(try await verifier.redeemEnrolment(grant.ticket).value)
        return TestDevice(credential: secret.credential, secret: secret.secret)
    }

    func login(_ device: TestDevice, nonce: UInt8) async throws -> LoginOutcome {
        let nonce = try #require(
            RotationNonce(bytes: [UInt8](repeating: nonce, count: RotationNonce.count)))
        return try await verifier.login(device.credential, secret: device.secret, nonce: nonce)
    }
}

extension LoginOutcome {
    var acceptance: Acceptance? {
        if case .accepted(let acceptance) = result { acceptance } else { nil }
    }

    var wipe: WipeReason? { if case .denied(let wipe) = result { wipe } else { nil } }

    var isDenied: Bool { if case .denied = result { true } else { false } }
}

extension RedemptionOutcome {
    var value: Value? { if case .redeemed(let value) = self { value } else { nil } }
}

/// The device side of an enrolled secret (EnrolledSecrets.md).
///
/// The value is the content of the device's disk, so a copy of the value is a copy of the disk.
struct SimulatedDevice: Sendable {
    /// A login as sent over the network.
    struct Request: Sendable {
        let credential: CredentialID
        let secret: Token
        let nonce: RotationNonce
    }

    let credential: CredentialID
    /// The secret that the server accepted last, or the first secret.
    private(set) var current: Token
    /// The secret from the last response.
    ///
    /// The device presents it first, and keeps the current secret until the new secret has worked.
    private(set) var next: Token?
    /// The nonce of the next request, which the device stores before it sends the request.
    private(set) var nonce: RotationNonce?
    private(set) var wiped: WipeReason?

    init(credential: CredentialID, secret: Token) {
        self.credential = credential
        current = secret
    }

    /// Stores the nonce, unless an earlier nonce still waits for its response.
    mutating func prepare(_ fresh: RotationNonce) { if nonce == nil { nonce = fresh } }

    /// The request to send; `nil` before ``prepare(_:)``.
    var request: Request? {
        nonce.map { Request(credential: credential, secret: next ?? current, nonce: $0) }
    }

    /// Stores the values from a response, if it belongs to the current request.
    mutating func receive(_ outcome: LoginOutcome, to asked: Request) {
        guard let request, request.nonce == asked.nonce,
            request.secret.bytes == asked.secret.bytes
        else { return }
        switch outcome.result {
        case .accepted(let acceptance):
            current = asked.secret
            next = acceptance.secret
            nonce = nil
        case .denied(let wipe):
            if let wipe { wiped = wipe }
        }
    }
}

/// A device with a key in software; a test changes the signed and the sent values.
struct TestDeviceKey: Sendable {
    let key: SigningKey
    var audience = "https://login.example"
    var presence = DeviceKeyTranscript.Presence.cryptographic
    /// The sent value, if it differs from the signed value.
    var sentAudience: String?
    var sentPresence: DeviceKeyTranscript.Presence?
    /// Whether a signature is sent as r and s, without DER.
    var sendsRawSignature = false

    init() throws { key = try SigningKey.make() }

    private func sign(_ transcript: DeviceKeyTranscript) throws -> [UInt8] {
        let bytes = transcript.bytes
        let signature = try key.sign(bytes.span)
        return sendsRawSignature ? PasskeyCase.raw(signature) : signature
    }

    func enrolment(_ ticket: Token) throws -> [UInt8] {
        let scope = try #require(
            DeviceKeyTranscript.Scope(audience: audience, presence: presence))
        let transcript = DeviceKeyTranscript.enrolment(
            scope, ticket: ticket.text, point: key.point)
        return try sign(transcript)
    }

    /// Signs a challenge for this credential.
    func answer(
        _ challenge: DeviceKeyChallenge, by credential: CredentialID, text: String? = nil,
        for signed: CredentialID? = nil, expiry: UInt64? = nil,
        purpose: DeviceKeyPurpose? = nil
    ) throws -> DeviceKeySignature {
        let scope = try #require(
            DeviceKeyTranscript.Scope(audience: audience, presence: presence))
        let bytes = challenge.token.bytes.withBytes { [UInt8](copying: $0) }
        let nonce = try #require(
            DeviceKeyTranscript.Challenge(
                bytes, expiry: expiry ?? UInt64(challenge.expiresAt.milliseconds)))
        let name = (signed ?? credential).text
        let transcript =
            text.map {
                DeviceKeyTranscript.confirmation(
                    scope, credential: name, challenge: nonce, text: $0)
            } ?? DeviceKeyTranscript.signIn(scope, credential: name, challenge: nonce)
        return DeviceKeySignature(
            credential: credential, challenge: challenge.token,
            audience: sentAudience ?? audience,
            purpose: purpose ?? (text == nil ? .signIn : .confirm),
            presence: sentPresence ?? presence, signature: try sign(transcript))
    }
}

extension DeviceKeys {
    /// Registers a test device, with a different point or signature if one is given.
    func register(
        _ device: TestDeviceKey, _ ticket: Token, point: [UInt8]? = nil,
        signature: [UInt8]? = nil, custody: KeyCustody = .vault
    ) async throws -> DeviceKeyRegistration {
        try await register(
            SentDeviceKey(
                point: point ?? device.key.point,
                signature: try signature ?? device.enrolment(ticket),
                presence: device.sentPresence ?? device.presence, custody: custody),
            with: ticket)
    }
}
