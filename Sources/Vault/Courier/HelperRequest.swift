public import WatchwordCryptography

/// A request to a server, with everything that the HTTP helper needs to send it.
public struct HelperRequest: Sendable {
    /// What the server is asked to do.
    public enum Operation: Sendable {
        /// Redeem an enrolment ticket; the account's owner recognises the device by its name.
        case enrolment(ticket: SecretBytes, deviceName: String)
        /// Sign in.
        case login(Login)
        /// Register a device key.
        case keyRegistration(KeyRegistration)
        /// Complete the registration of an attested key, with what the TPM revealed, in base64url.
        case keyActivation(credential: Token, secret: SecretBytes)
        /// Get a challenge for the device key of this credential.
        case challenge(credential: Token)
        /// Sign in, or confirm a text, with a device key.
        case signature(KeySignature)
    }

    /// A login with an enrolled secret.
    public struct Login: Sendable {
        /// The credential's public identifier.
        public let credential: Token
        /// The enrolled secret, a token.
        public let secret: SecretBytes
        /// The 16 bytes from which the server derives the next secret.
        public let nonce: RotationNonce

        /// Creates a login.
        public init(credential: Token, secret: SecretBytes, nonce: RotationNonce) {
            self.credential = credential
            self.secret = secret
            self.nonce = nonce
        }
    }

    /// The server that receives the request.
    public let server: ServerAddress
    /// The certificates of the authorities to trust, in PEM; if empty, the system's are trusted.
    public let authorities: [UInt8]
    /// The `Idempotency-Key`: the same for every attempt at a request, so that the server executes
    /// the request once.
    public let idempotencyKey: String
    /// What the server is asked to do.
    public let operation: Operation

    /// Creates a request.
    public init(
        server: ServerAddress, authorities: [UInt8], idempotencyKey: String, operation: Operation
    ) {
        self.server = server
        self.authorities = authorities
        self.idempotencyKey = idempotencyKey
        self.operation = operation
    }
}

/// An identifier that a server created: a few letters, an underscore, and Base64url.
///
/// It needs no escaping in a header, in a line of text or in JSON.
public struct Token: Hashable, Sendable {
    /// The token's text.
    public let text: String

    /// Accepts 1 to 255 letters, digits, dashes and underscores.
    public init?(_ text: String) {
        guard (1...Token.longest).contains(text.utf8.count), text.utf8.allSatisfy(Token.isLetter)
        else { return nil }
        self.text = text
    }

    /// The maximum length of a token in bytes.
    package static let longest = 255

    /// Whether `bytes` form a token.
    ///
    /// For secrets, which must not become a `String`.
    public static func isToken(_ bytes: SecretBytes) -> Bool {
        bytes.withBytes { bytes in
            guard (1...longest).contains(bytes.count) else { return false }
            return bytes.indices.allSatisfy { isLetter(bytes[$0]) }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }
}

/// Sixteen random bytes that a device sends with its secret, and sends again with every retry.
public struct RotationNonce: Hashable, Sendable {
    /// The length in bytes.
    public static let count = 16
    /// The random bytes.
    public let bytes: [UInt8]

    /// Accepts exactly sixteen bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == RotationNonce.count else { return nil }
        self.bytes = bytes
    }

    /// Generates a new nonce.
    public static func random() -> RotationNonce {
        RotationNonce(made: Randomness.bytes(count: count))
    }

    private init(made bytes: [UInt8]) { self.bytes = bytes }

    /// The nonce as it is sent: Base64url without padding (RFC 4648, section 5).
    public var text: String { Base64URL.encode(bytes.span) }
}

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
