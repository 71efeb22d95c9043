public import Cryptography

/// What the courier is to ask of a server, and all that it needs for it.
public struct Errand: Sendable {
    /// What is asked.
    public enum Question: Sendable {
        /// Redeems an enrolment ticket; the name is what the account's owner will know the device by.
        case enrolment(ticket: SecretBytes, deviceName: String)
        /// Signs in.
        case login(Login)
    }

    /// A secret that is presented.
    public struct Login: Sendable {
        /// The credential's public identifier.
        public let credential: Token
        /// The secret.
        public let secret: SecretBytes
        /// The 16 bytes from which the server makes the next secret.
        public let nonce: RotationNonce

        /// Puts the three together.
        public init(credential: Token, secret: SecretBytes, nonce: RotationNonce) {
            self.credential = credential
            self.secret = secret
            self.nonce = nonce
        }
    }

    /// Whom to ask.
    public let server: ServerAddress
    /// The certificates of the authorities to trust instead of the system's, in PEM; none: the system's.
    public let authorities: [UInt8]
    /// The same for each attempt at the same errand, so that the server does it once (`Idempotency-Key`).
    public let idempotencyKey: String
    /// What is asked.
    public let question: Question

    /// Puts an errand together.
    public init(
        server: ServerAddress, authorities: [UInt8], idempotencyKey: String, question: Question
    ) {
        self.server = server
        self.authorities = authorities
        self.idempotencyKey = idempotencyKey
        self.question = question
    }
}

/// A name that a server made: a few letters, an underscore, and Base64's letters for addresses.
///
/// It is fit for a header, a line and a JSON text as it is.
public struct Token: Hashable, Sendable {
    /// The whole token.
    public let text: String

    /// Takes at most 255 letters, digits, dashes and underscores, at least one.
    public init?(_ text: String) {
        guard (1...Token.longest).contains(text.utf8.count), text.utf8.allSatisfy(Token.isLetter)
        else { return nil }
        self.text = text
    }

    /// How many bytes a token has at most.
    package static let longest = 255

    /// Whether `bytes` are such a token, where it is a secret and must not become a text.
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

/// Sixteen random bytes that a device sends along with its secret; the same with each repetition.
public struct RotationNonce: Hashable, Sendable {
    /// How many bytes it has.
    public static let count = 16
    /// The bytes.
    public let bytes: [UInt8]

    /// Takes exactly sixteen bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == RotationNonce.count else { return nil }
        self.bytes = bytes
    }

    /// Makes a fresh one.
    public static func random() throws(CryptographyFailure) -> RotationNonce {
        RotationNonce(made: try Randomness.bytes(count: count))
    }

    private init(made bytes: [UInt8]) { self.bytes = bytes }

    /// As it is sent: Base64 with the alphabet for addresses, without padding (RFC 4648, section 5).
    public var text: String { Base64URL.encode(bytes.span) }
}
