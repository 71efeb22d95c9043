/// The requirements for a ceremony with a passkey.
///
/// The application chooses them when the ceremony begins; a browser cannot change them.
public struct PasskeyPolicy: Hashable, Sendable {
    /// Whether the authenticator must verify the user.
    public enum UserVerification: String, CaseIterable, Hashable, Sendable {
        case required
        case preferred
        case discouraged
    }

    /// The treatment of passkeys that may be copied to other devices.
    public enum Backup: String, CaseIterable, Hashable, Sendable {
        /// Such passkeys are accepted.
        case any
        /// Such passkeys need a second proof on each new device.
        case stepUp = "step-up"
        /// Such passkeys are denied.
        case deviceBound = "device-bound"
    }

    /// The proof of the authenticator that a registration requires.
    public enum Attestation: String, CaseIterable, Hashable, Sendable {
        /// No proof is requested.
        case none
        /// A proof is requested and recorded, but not required.
        case any
        /// A proof that the authenticator's maker is trusted is required.
        case trusted
    }

    /// The treatment of a signature counter that did not increase.
    public enum Counter: String, CaseIterable, Hashable, Sendable {
        /// The signature is accepted, and the counter is reported.
        case signal
        /// The signature needs a second proof.
        case stepUp = "step-up"
        /// The signature is denied.
        case deny
    }

    /// Whether the authenticator must store the passkey, so that the passkey can be found without a
    /// user name.
    public enum Discoverable: String, CaseIterable, Hashable, Sendable {
        case required
        case preferred
    }

    /// Whether the authenticator must verify the user.
    public let userVerification: UserVerification
    /// The treatment of passkeys that may be copied to other devices.
    public let backup: Backup
    /// The proof of the authenticator that a registration requires.
    public let attestation: Attestation
    /// The treatment of a signature counter that did not increase.
    public let counter: Counter
    /// Whether the authenticator must store the passkey.
    public let discoverable: Discoverable

    /// The policy with the default requirements.
    public static let standard = PasskeyPolicy()

    /// Takes the requirements that differ from the defaults.
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
