public import WatchwordCryptography

extension HelperRequest {
    /// The registration of a device key.
    ///
    /// The courier makes the same body from it each time, so that the server recognises a repeated
    /// request.
    public struct KeyRegistration: Sendable {
        /// The enrolment ticket, a token.
        public let ticket: SecretBytes
        /// The public key: 65 bytes.
        public let point: [UInt8]
        /// The signature over the transcript of the enrolment, in DER.
        public let signature: [UInt8]
        /// How the device checks that somebody is present.
        public let presence: DeviceKeyTranscript.Presence
        /// Whether the private key is in a TPM, and not in the vault.
        public let isInTPM: Bool
        /// The device's name, as the account's owner will see it; may be empty.
        public let deviceName: String
        /// What the TPM says about the key, if the server is to check it.
        public let attestation: KeyAttestation?

        /// Creates a registration.
        public init(
            ticket: SecretBytes, point: [UInt8], signature: [UInt8],
            presence: DeviceKeyTranscript.Presence, isInTPM: Bool, deviceName: String,
            attestation: KeyAttestation? = nil
        ) {
            self.ticket = ticket
            self.point = point
            self.signature = signature
            self.presence = presence
            self.isInTPM = isInTPM
            self.deviceName = deviceName
            self.attestation = attestation
        }
    }

    /// A device key's answer to a challenge.
    public struct KeySignature: Sendable {
        /// The credential's public identifier.
        public let credential: Token
        /// The challenge.
        public let challenge: Token
        /// Whether the signature confirms a text, and does not sign in.
        public let confirmsText: Bool
        /// How the device checked that somebody is present.
        public let presence: DeviceKeyTranscript.Presence
        /// The signature in DER.
        public let signature: [UInt8]

        /// Creates an answer.
        public init(
            credential: Token, challenge: Token, confirmsText: Bool,
            presence: DeviceKeyTranscript.Presence, signature: [UInt8]
        ) {
            self.credential = credential
            self.challenge = challenge
            self.confirmsText = confirmsText
            self.presence = presence
            self.signature = signature
        }
    }
}

extension ServerAddress {
    /// The address without the path, as device keys sign it: the server that was connected to.
    public var audience: String {
        let whole = text
        return String(whole.dropLast(prefix.count))
    }
}
