internal import Verification
internal import WatchwordCoding
package import WatchwordCryptography
package import WatchwordSystem

// The protocol of the socket for enrolments, in frames (see `IncomingFrame`).
//
// program → server, first: begin
// server → program, each:  asks, and then waits for the answer; checksPassword, and then the
//                          connection belongs to the PAM modules until their verdict;
//                          credentials, key or recoveryCodes
// program → server, each:  answer
// server → program, last:  done or refused

/// A frame from `watchword-enrol`.
package enum EnrolmentRequest: Sendable {
    case begin(version: UInt8, EnrolmentTask)
    /// The answer to the server's question.
    case answer(SecretBytes)

    package static let version: UInt8 = 2
    /// The maximum size of a frame in bytes.
    static let largest = 4_096
}

/// A task that a user requests for the user's own credentials.
package enum EnrolmentTask: Hashable, Sendable {
    case list
    /// Adds an authenticator app with this name.
    case add(name: String)
    /// Adds an authenticator app with a ticket from an administrator.
    case addWithTicket
    /// Removes the credential with this id.
    case remove(String)
    /// Replaces the recovery codes with new ones.
    case recoveryCodes

    /// The maximum length of a name in bytes.
    package static let longestName = OneTimePasswordEnrolment.maximumTextCount
}

/// A frame from the server.
package enum EnrolmentResponse: Sendable {
    /// - Parameter isRepeated: whether the last answer was denied.
    case asks(EnrolmentQuestion, isRepeated: Bool)
    /// The PAM modules ask for the login password next.
    case checksPassword
    case credentials([OwnCredential])
    /// The key URI of the new authenticator, in printable ASCII.
    case key(SecretBytes)
    /// The new recovery codes, in printable ASCII.
    case recoveryCodes([SecretBytes])
    case done
    case refused(TaskRefusal)

    /// The maximum size of a frame in bytes: a hundred credentials with their names.
    package static let largest = 1 << 17
}

/// A question from the server.
package enum EnrolmentQuestion: UInt8, CaseIterable, Hashable, Sendable {
    /// A code of an authenticator that the user already has, or a recovery code.
    case code
    /// A ticket from an administrator.
    case ticket
    /// The first code of the new authenticator.
    case firstCode
}

/// Why the server refuses a task.
package enum TaskRefusal: Hashable, Sendable {
    /// The program has a different version.
    case otherVersion
    /// The user has too many conversations with the server, or all users have.
    case busy
    /// The user's ID has no name.
    case noName
    /// The user did not prove who they are.
    case denied
    /// The first code of the new authenticator was not accepted; a ticket for the authenticator is
    /// spent.
    case notConfirmed
    /// The user has no authenticator yet.
    case notEnrolled
    /// The next code is checked after this many seconds.
    case mustWait(seconds: Int)
    /// Only an administrator's ticket permits the task: the user had a second factor, but now has
    /// none whose code could be requested.
    case needsTicket
    /// The login password cannot be checked, so an administrator's ticket is needed.
    case noPasswordCheck
    /// The user has as many credentials as the server allows.
    case tooMany
    /// The authenticator is enrolled, but no recovery codes were issued.
    case noRecoveryCodes
    /// The user has no such credential.
    case unknownCredential
    /// The credential is the user's last authenticator.
    case lastAuthenticator
    /// The server could not decide.
    case unavailable
}

/// One of the user's credentials.
package struct OwnCredential: Hashable, Sendable {
    package let id: String
    /// `totp`, `hotp`, `recovery` and so on.
    package let kind: String
    /// `active`, `pending` or `disabled`.
    package let state: String
    /// A human-readable name; may be empty.
    package let name: String
    /// When the credential was created (RFC 3339).
    package let createdAt: String
    /// When the credential was last accepted; `nil` if it never was.
    package let lastUsedAt: String?
    /// The number of recovery codes left; `nil` for other kinds.
    package let remaining: Int?
}

extension EnrolmentRequest: Transferable {
    private enum Kind: UInt8, Transferable {
        case begin = 1
        case answer
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .begin(let version, let task): output.append(Kind.begin, version, task)
        case .answer(let answer): output.append(Kind.answer, answer)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .begin: self = try fields.make(Self.begin, from: bytes)
        case .answer: self = try fields.make(Self.answer, from: bytes)
        }
    }
}

extension EnrolmentTask: Transferable {
    private enum Kind: UInt8, Transferable {
        case list, add, addWithTicket, remove, recoveryCodes
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .list: output.append(Kind.list)
        case .add(let name): output.append(Kind.add, name)
        case .addWithTicket: output.append(Kind.addWithTicket)
        case .remove(let id): output.append(Kind.remove, id)
        case .recoveryCodes: output.append(Kind.recoveryCodes)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .list: self = .list
        case .add: self = try fields.make(Self.add, from: bytes)
        case .addWithTicket: self = .addWithTicket
        case .remove: self = try fields.make(Self.remove, from: bytes)
        case .recoveryCodes: self = .recoveryCodes
        }
    }
}

extension EnrolmentResponse: Transferable {
    private enum Kind: UInt8, Transferable {
        case asks, checksPassword, credentials, key, recoveryCodes, done, refused
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .asks(let question, let isRepeated): output.append(Kind.asks, question, isRepeated)
        case .checksPassword: output.append(Kind.checksPassword)
        case .credentials(let credentials): output.append(Kind.credentials, credentials)
        case .key(let uri): output.append(Kind.key, uri)
        case .recoveryCodes(let codes): output.append(Kind.recoveryCodes, codes)
        case .done: output.append(Kind.done)
        case .refused(let refusal): output.append(Kind.refused, refusal)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .asks: self = try fields.make(Self.asks, from: bytes)
        case .checksPassword: self = .checksPassword
        case .credentials: self = try fields.make(Self.credentials, from: bytes)
        case .key:
            let uri: SecretBytes = try fields.value(bytes)
            guard uri.isPrintable else { throw Unreadable() }
            self = .key(uri)
        case .recoveryCodes:
            let codes: [SecretBytes] = try fields.value(bytes)
            guard codes.allSatisfy(\.isPrintable) else { throw Unreadable() }
            self = .recoveryCodes(codes)
        case .done: self = .done
        case .refused: self = try fields.make(Self.refused, from: bytes)
        }
    }
}

extension SecretBytes {
    /// Whether a terminal displays all bytes and interprets none as a control character.
    fileprivate var isPrintable: Bool {
        withBytes { bytes in bytes.indices.allSatisfy { (0x21...0x7E).contains(bytes[$0]) } }
    }
}

extension EnrolmentQuestion: Transferable {}

extension TaskRefusal: Transferable {
    private enum Kind: UInt8, Transferable {
        case otherVersion, busy, noName, denied, notConfirmed, notEnrolled, mustWait, needsTicket
        case noPasswordCheck, tooMany, noRecoveryCodes, unknownCredential, lastAuthenticator
        case unavailable
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .otherVersion: output.append(Kind.otherVersion)
        case .busy: output.append(Kind.busy)
        case .noName: output.append(Kind.noName)
        case .denied: output.append(Kind.denied)
        case .notConfirmed: output.append(Kind.notConfirmed)
        case .notEnrolled: output.append(Kind.notEnrolled)
        case .mustWait(let seconds): output.append(Kind.mustWait, seconds)
        case .needsTicket: output.append(Kind.needsTicket)
        case .noPasswordCheck: output.append(Kind.noPasswordCheck)
        case .tooMany: output.append(Kind.tooMany)
        case .noRecoveryCodes: output.append(Kind.noRecoveryCodes)
        case .unknownCredential: output.append(Kind.unknownCredential)
        case .lastAuthenticator: output.append(Kind.lastAuthenticator)
        case .unavailable: output.append(Kind.unavailable)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .otherVersion: self = .otherVersion
        case .busy: self = .busy
        case .noName: self = .noName
        case .denied: self = .denied
        case .notConfirmed: self = .notConfirmed
        case .notEnrolled: self = .notEnrolled
        case .mustWait: self = try fields.make(Self.mustWait, from: bytes)
        case .needsTicket: self = .needsTicket
        case .noPasswordCheck: self = .noPasswordCheck
        case .tooMany: self = .tooMany
        case .noRecoveryCodes: self = .noRecoveryCodes
        case .unknownCredential: self = .unknownCredential
        case .lastAuthenticator: self = .lastAuthenticator
        case .unavailable: self = .unavailable
        }
    }
}

extension OwnCredential: Transferable {
    package func write(to output: FrameWriter) {
        output.append(id, kind, state, name, createdAt, lastUsedAt, remaining)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(
            Self.init(id:kind:state:name:createdAt:lastUsedAt:remaining:), from: bytes)
    }
}
