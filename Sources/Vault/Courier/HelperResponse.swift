internal import WatchwordCoding
public import WatchwordCryptography
package import WatchwordSystem

/// A server's response, parsed and checked.
public enum HelperResponse: Sendable {
    /// The ticket was redeemed.
    case enrolled(credential: Token, NextSecret)
    /// The secret was accepted.
    case accepted(Acceptance)
    /// The device key is registered, with this custody.
    case registered(credential: Token, custody: Token)
    /// The device key is registered once the TPM has revealed a secret.
    case keyToActivate(credential: Token, KeyActivation)
    /// The attested device key is registered.
    case keyActivated
    /// A challenge to sign.
    case challenge(KeyChallenge)
    /// The device key's signature was accepted.
    case signed(AcceptedSignature)
    /// The secret or the signature was not accepted.
    case denied(wipe: WipeOrder?)
    /// An application's request was answered with this content, in JSON; `nil` if there is none.
    case content(SecretBytes?)
    /// The server refused the request or failed.
    case problem(Problem)

    /// A secret that the server returns once.
    public struct NextSecret: Sendable {
        /// The secret, a token.
        public let secret: SecretBytes
        /// The number of earlier secrets of this credential.
        public let generation: UInt64

        /// Combines a secret with its generation.
        public init(secret: SecretBytes, generation: UInt64) {
            self.secret = secret
            self.generation = generation
        }
    }

    /// The content of a response that accepts a secret.
    public struct Acceptance: Sendable {
        /// The decision's id, which is the same in a repeated response.
        public let verification: Token
        /// The ticket that the application redeems, once.
        public let login: SecretBytes
        /// The time when the ticket expires, as the server wrote it (RFC 3339).
        public let expiresAt: PlainText
        /// The secret to present at the next login.
        public let next: NextSecret

        /// Combines the parts of a response.
        public init(
            verification: Token, login: SecretBytes, expiresAt: PlainText, next: NextSecret
        ) {
            self.verification = verification
            self.login = login
            self.expiresAt = expiresAt
            self.next = next
        }
    }

    /// A challenge for a device key.
    public struct KeyChallenge: Hashable, Sendable {
        /// The challenge, of which the device signs the bytes.
        public let token: Token
        /// The time when the challenge expires, in Unix milliseconds; the device signs this number,
        /// too.
        public let expiry: UInt64

        /// Combines a challenge with the time when it expires.
        public init(token: Token, expiry: UInt64) {
            self.token = token
            self.expiry = expiry
        }

        /// The random bytes of the challenge; `nil` if the token does not have 32.
        public var bytes: [UInt8]? {
            guard let separator = token.text.utf8.firstIndex(of: UInt8(ascii: "_")) else {
                return nil
            }
            let text = Array(token.text.utf8[separator...].dropFirst())
            do throws(CryptographyError) {
                let bytes = try Base64URL.decode(text.span)
                return bytes.count == 32 ? bytes : nil
            } catch { return nil }
        }
    }

    /// The content of a response that accepts a device key's signature.
    public struct AcceptedSignature: Sendable {
        /// The decision's id, which is the same in a repeated response.
        public let verification: Token
        /// The ticket that the application redeems, once.
        public let login: SecretBytes
        /// The time when the ticket expires, as the server wrote it (RFC 3339).
        public let expiresAt: PlainText

        /// Combines the parts of a response.
        public init(verification: Token, login: SecretBytes, expiresAt: PlainText) {
            self.verification = verification
            self.login = login
            self.expiresAt = expiresAt
        }
    }

    /// The server's reason for ordering a device to delete its secret.
    public enum WipeOrder: String, CaseIterable, Hashable, Sendable {
        case revoked
        case reuseDetected = "reuse-detected"
        case tooManyFailures = "too-many-failures"
        case accountClosed = "account-closed"
        /// A reason that is unknown to this version; the device does not obey the order.
        case unlisted

        /// Parses the reason in the response; only an order with one of the four known reasons is
        /// obeyed.
        public init(word: String) { self = WipeOrder(rawValue: word) ?? .unlisted }
    }

    /// An error response (RFC 9457).
    public struct Problem: Hashable, Sendable {
        /// The HTTP status.
        public let status: Int
        /// The problem's type (a URI), to be shown; may be empty.
        public let type: PlainText
        /// The seconds to wait before a retry; 0 if unspecified.
        public let retryAfter: Int
        /// The field at fault, if the server specifies it.
        public let field: PlainText?

        /// Combines the facts in an error response.
        public init(status: Int, type: PlainText, retryAfter: Int, field: PlainText? = nil) {
            self.status = status
            self.type = type
            self.retryAfter = retryAfter
            self.field = field
        }

        /// Whether the same request may succeed later: the server is busy or asks the client to
        /// wait.
        public var isTransient: Bool { status == 408 || status == 429 || status >= 500 }
    }
}

/// The message that the helper sends: the response, or the reason why there is none.
struct ResponseFrame: Transferable {
    let result: Result<HelperResponse, HTTPHelperFailure>

    init(_ result: Result<HelperResponse, HTTPHelperFailure>) { self.result = result }

    func write(to output: FrameWriter) { output.append(HelperProtocol.version, result) }

    init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        guard try fields.byte(bytes) == HelperProtocol.version else { throw Unreadable() }
        result = try fields.value(bytes)
        switch result {
        // Only the caller of a helper can report these failures.
        case .failure(.helper(.notFound)), .failure(.helper(.cannotStart)),
            .failure(.helper(.died)):
            throw Unreadable()
        default: break
        }
    }
}

extension HelperResponse: Transferable {
    private enum Kind: UInt8, Transferable {
        case enrolled, accepted, registered, keyToActivate, keyActivated, challenge, signed
        case denied, content, problem
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .enrolled(let credential, let handed):
            output.append(Kind.enrolled, credential, handed)
        case .accepted(let acceptance): output.append(Kind.accepted, acceptance)
        case .registered(let credential, let custody):
            output.append(Kind.registered, credential, custody)
        case .keyToActivate(let credential, let activation):
            output.append(Kind.keyToActivate, credential, activation)
        case .keyActivated: output.append(Kind.keyActivated)
        case .challenge(let challenge): output.append(Kind.challenge, challenge)
        case .signed(let accepted): output.append(Kind.signed, accepted)
        case .denied(let wipe): output.append(Kind.denied, wipe)
        case .content(let content): output.append(Kind.content, content)
        case .problem(let problem): output.append(Kind.problem, problem)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .enrolled: self = try fields.make(Self.enrolled, from: bytes)
        case .accepted: self = try fields.make(Self.accepted, from: bytes)
        case .registered: self = try fields.make(Self.registered, from: bytes)
        case .keyToActivate: self = try fields.make(Self.keyToActivate, from: bytes)
        case .keyActivated: self = .keyActivated
        case .challenge: self = try fields.make(Self.challenge, from: bytes)
        case .signed: self = try fields.make(Self.signed, from: bytes)
        case .denied: self = try fields.make(Self.denied, from: bytes)
        case .content: self = .content(try fields.value(bytes))
        case .problem: self = try fields.make(Self.problem, from: bytes)
        }
    }
}

extension HelperResponse.WipeOrder: Transferable {}

extension HelperResponse.NextSecret: Transferable {
    package func write(to output: FrameWriter) { output.append(secret, generation) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        secret = try fields.secretToken(bytes)
        generation = try fields.value(bytes)
    }
}

extension HelperResponse.Acceptance: Transferable {
    package func write(to output: FrameWriter) {
        output.append(verification, login, expiresAt, next)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        verification = try fields.value(bytes)
        login = try fields.secretToken(bytes)
        expiresAt = try fields.value(bytes)
        next = try fields.value(bytes)
    }
}

extension HelperResponse.KeyChallenge: Transferable {
    package func write(to output: FrameWriter) { output.append(token, expiry) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension HelperResponse.AcceptedSignature: Transferable {
    package func write(to output: FrameWriter) {
        output.append(verification, login, expiresAt)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        verification = try fields.value(bytes)
        login = try fields.secretToken(bytes)
        expiresAt = try fields.value(bytes)
    }
}

extension HelperResponse.Problem: Transferable {
    package func write(to output: FrameWriter) {
        output.append(UInt16(clamping: status), type, UInt32(clamping: retryAfter), field)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        status = Int(try fields.value(bytes) as UInt16)
        type = try fields.value(bytes)
        retryAfter = Int(try fields.value(bytes) as UInt32)
        field = try fields.value(bytes)
    }
}
