/// What a ceremony with a passkey requires.
///
/// The application chooses it when the ceremony begins; nothing that a browser sends changes it.
public struct PasskeyPolicy: Hashable, Sendable {
    /// Whether the authenticator has to verify the user.
    public enum UserVerification: String, CaseIterable, Hashable, Sendable {
        case required
        case preferred
        case discouraged
    }

    /// How to treat a passkey that may be copied to other devices.
    public enum Backup: String, CaseIterable, Hashable, Sendable {
        /// Accept it.
        case any
        /// Ask for a second proof on each new device.
        case stepUp = "step-up"
        /// Deny it.
        case deviceBound = "device-bound"
    }

    /// What a registration has to prove about the authenticator.
    public enum Attestation: String, CaseIterable, Hashable, Sendable {
        /// Nothing; no proof is requested.
        case none
        /// Nothing, but a proof is requested and recorded.
        case any
        /// That its maker is trusted.
        case trusted
    }

    /// How to treat a signature counter that did not increase.
    public enum Counter: String, CaseIterable, Hashable, Sendable {
        /// Accept the signature, and report it.
        case signal
        /// Ask for a second proof.
        case stepUp = "step-up"
        /// Deny the signature.
        case deny
    }

    /// Whether the authenticator has to store the passkey, so that it can be found without a name.
    public enum Discoverable: String, CaseIterable, Hashable, Sendable {
        case required
        case preferred
    }

    /// Whether the authenticator has to verify the user.
    public let userVerification: UserVerification
    /// How to treat a passkey that may be copied to other devices.
    public let backup: Backup
    /// What a registration has to prove about the authenticator.
    public let attestation: Attestation
    /// How to treat a signature counter that did not increase.
    public let counter: Counter
    /// Whether the authenticator has to store the passkey.
    public let discoverable: Discoverable

    /// The defaults.
    public static let standard = PasskeyPolicy()

    /// Creates a policy that differs from the defaults.
    public init(
        userVerification: UserVerification = .required, backup: Backup = .any,
        attestation: Attestation = .none, counter: Counter = .signal,
        discoverable: Discoverable = .required
    ) {
        self.userVerification = userVerification
        self.backup = backup
        self.attestation = attestation
        self.counter = counter
        self.discoverable = discoverable
    }
}

extension PasskeyPolicy {
    func write(into writer: inout ByteWriter) {
        writer.write(userVerification.rawValue)
        writer.write(backup.rawValue)
        writer.write(attestation.rawValue)
        writer.write(counter.rawValue)
        writer.write(discoverable.rawValue)
    }

    init(from reader: inout ByteReader) throws(VerifierError) {
        userVerification = try reader.readChoice()
        backup = try reader.readChoice()
        attestation = try reader.readChoice()
        counter = try reader.readChoice()
        discoverable = try reader.readChoice()
    }
}
