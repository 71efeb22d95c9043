public import Cryptography

/// What a server answered, taken apart and checked.
public enum CourierAnswer: Sendable {
    /// The ticket was redeemed.
    case enrolled(credential: Token, HandedSecret)
    /// The secret was accepted.
    case accepted(Acceptance)
    /// The secret was not accepted.
    case denied(wipe: WipeOrder?)
    /// The server did not do what it was asked.
    case problem(Problem)

    /// A secret that the server hands out once.
    public struct HandedSecret: Sendable {
        /// The secret, a token.
        public let secret: SecretBytes
        /// How many secrets of this credential were there before it.
        public let generation: UInt64

        /// Puts both together.
        public init(secret: SecretBytes, generation: UInt64) {
            self.secret = secret
            self.generation = generation
        }
    }

    /// What comes with an accepted secret.
    public struct Acceptance: Sendable {
        /// The decision's name, the same when the answer is repeated.
        public let verification: Token
        /// The ticket that the application redeems, once.
        public let login: SecretBytes
        /// Until when it is good, as the server wrote it (RFC 3339).
        public let expiresAt: PlainText
        /// The secret to present from now on.
        public let next: HandedSecret

        /// Puts them together.
        public init(
            verification: Token, login: SecretBytes, expiresAt: PlainText, next: HandedSecret
        ) {
            self.verification = verification
            self.login = login
            self.expiresAt = expiresAt
            self.next = next
        }
    }

    /// Why a device is told to forget its secret.
    public enum WipeOrder: UInt8, CaseIterable, Hashable, Sendable {
        case revoked = 1
        case reuseDetected
        case tooManyFailures
        case accountClosed
        /// A reason that no device knows; it is not obeyed.
        case unlisted

        /// The word on the wire for each of the four reasons that are obeyed.
        public init(word: String) {
            self =
                switch word {
                case "revoked": .revoked
                case "reuse-detected": .reuseDetected
                case "too-many-failures": .tooManyFailures
                case "account-closed": .accountClosed
                default: .unlisted
                }
        }
    }

    /// An answer that says why not (RFC 9457).
    public struct Problem: Hashable, Sendable {
        /// The HTTP status.
        public let status: Int
        /// The problem's type, for people; may be empty.
        public let type: PlainText
        /// Seconds to wait before asking again; 0 when the server does not say.
        public let retryAfter: Int

        /// Puts them together.
        public init(status: Int, type: PlainText, retryAfter: Int) {
            self.status = status
            self.type = type
            self.retryAfter = retryAfter
        }

        /// Whether the same request may succeed later: the server was busy or asks the client to wait.
        public var isPassing: Bool { status == 408 || status == 429 || status >= 500 }
    }
}

/// Printable ASCII, at most 127 characters, so that a stranger's words can be shown.
public struct PlainText: Hashable, Sendable {
    /// The text.
    public let text: String

    static let longest = 127

    /// Keeps what may be shown of `text`: other characters become question marks, the rest is cut off.
    public init(showing text: String) {
        let bytes = text.utf8.prefix(PlainText.longest)
        self.text = String(
            decoding: bytes.map { PlainText.isPlain($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    static func isPlain(_ byte: UInt8) -> Bool { (0x20..<0x7f).contains(byte) }
}
