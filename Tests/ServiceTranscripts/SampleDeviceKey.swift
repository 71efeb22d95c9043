internal import TestSupport
package import WatchwordCryptography

/// A device key that is derived from a name; a test changes the signed values.
package struct SampleDeviceKey: Sendable {
    /// The address of the server in tests.
    package static let audience = "https://login.example"

    /// Thrown for a text that does not have the expected form.
    package struct Malformed: Error {}

    package let key: SigningKey
    package var audience = SampleDeviceKey.audience
    package var presence = DeviceKeyTranscript.Presence.cryptographic

    /// The key whose scalar is SHA-256 of `watchword test key NAME`.
    package init(_ name: String) throws {
        let digest = sha256(Array("watchword test key \(name)".utf8).span)
        key = try SigningKey(scalar: SecretBytes(copying: digest.span))
    }

    /// The public key in the form that requests contain.
    package var pointText: String {
        let point = key.point
        return Base64URL.encode(point.span)
    }

    private var scope: DeviceKeyTranscript.Scope {
        get throws {
            guard let scope = DeviceKeyTranscript.Scope(audience: audience, presence: presence)
            else { throw Malformed() }
            return scope
        }
    }

    /// A signature with which the key is registered.
    package func enrolment(_ ticket: String) throws -> String {
        try signature(
            DeviceKeyTranscript.enrolment(
                scope, ticket: SecretBytes(text: ticket), point: key.point))
    }

    /// A signature of a challenge.
    package func signature(
        of challenge: String, expiry: UInt64, by credential: String, confirming text: String? = nil
    ) throws -> String {
        let bytes = try Base64URL.decode(Array(challenge.utf8.dropFirst(4)).span)
        guard let challenge = DeviceKeyTranscript.Challenge(bytes, expiry: expiry) else {
            throw Malformed()
        }
        let scope = try scope
        guard let text else {
            return try signature(
                .signIn(scope, credential: credential, challenge: challenge))
        }
        return try signature(
            .confirmation(scope, credential: credential, challenge: challenge, text: text))
    }

    /// A signature of any bytes.
    package func signature(of message: [UInt8]) throws -> String {
        let signature = try key.sign(message.span)
        return Base64URL.encode(signature.span)
    }

    private func signature(_ transcript: DeviceKeyTranscript) throws -> String {
        try signature(of: transcript.bytes)
    }
}
