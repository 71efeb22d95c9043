import StoreContract
import Testing
import WatchwordCryptography

@testable import Verification

/// A device with a key in software; a test changes what it signs and sends.
struct TestDeviceKey: Sendable {
    let key: SigningKey
    var audience = "https://login.example"
    var presence = DeviceKeyTranscript.Presence.cryptographic
    /// What is sent, if it is not what was signed.
    var sentAudience: String?
    var sentPresence: DeviceKeyTranscript.Presence?

    init() throws { key = try SigningKey.make() }

    func enrolment(_ ticket: Token) throws -> [UInt8] {
        let scope = try #require(
            DeviceKeyTranscript.Scope(audience: audience, presence: presence))
        let transcript = DeviceKeyTranscript.enrolment(
            scope, ticket: ticket.text, point: key.point)
        return try key.sign(transcript.bytes.span)
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
            presence: sentPresence ?? presence, signature: try key.sign(transcript.bytes.span))
    }
}

extension DeviceKeys {
    /// Registers a test's device, with another point or signature if it is given.
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
