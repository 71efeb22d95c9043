import Testing
import WatchwordCryptography

@testable import Verification

/// A device's copy of an enrolled secret.
struct TestDevice: Sendable {
    let credential: CredentialID
    let secret: Token

    func with(_ secret: Token) -> TestDevice {
        TestDevice(credential: credential, secret: secret)
    }

    /// The same credential with a secret that no server issued.
    func withSecretMadeUp() -> TestDevice {
        with(Token(.secret, Randomness.secret(count: PresentedSecret.count)))
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
