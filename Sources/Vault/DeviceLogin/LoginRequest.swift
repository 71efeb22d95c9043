public import Courier
public import SecretVault
package import WatchwordSystem

/// A request about an enrolled secret or a device key, from `watchword` to the process that holds
/// the vault's key.
package enum LoginRequest: Sendable {
    case signIn(RecordID)
    case enrol(Enrolment)
    /// Show the local state.
    case status(RecordID)
    /// Wipe the secret or the key on this device.
    case wipe(RecordID)
    /// Use a device key.
    case key(KeyRequest)
}

/// The outcome of a ``LoginRequest``.
package enum LoginResponse: Sendable {
    case ticket(LoginTicket)
    case enrolled(credential: Token, server: ServerAddress, bound: DeviceBinding?)
    case state(LoginState)
    case wiped
    /// The enrolment's name belongs to a different kind of entry.
    case nameTaken
    /// The server of a device key.
    case server(ServerAddress)
    case key(KeyState)
    /// The key of an earlier run is in use, and the ticket was not sent.
    case adopted(KeyState)
    /// The person must choose a PIN for the new key.
    case pinNeeded
    case failed(DeviceLoginError)
}

extension LoginRequest {
    /// The entry that signs in or signs a text; `nil` for requests that sign nothing.
    package var signing: RecordID? {
        switch self {
        case .signIn(let id): id
        case .key(let request): request.signing
        case .enrol, .status, .wipe: nil
        }
    }

    /// Whether the request may change the vault.
    package var mayChangeVault: Bool {
        switch self {
        case .status, .key(.server), .key(.status): false
        case .signIn, .enrol, .wipe, .key: true
        }
    }
}

extension LoginRequest: Transferable {
    enum Kind: UInt8, CaseIterable, Transferable {
        case signIn, enrol, status, wipe, key
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .signIn(let id): output.append(Kind.signIn, id)
        case .enrol(let enrolment): output.append(Kind.enrol, enrolment)
        case .status(let id): output.append(Kind.status, id)
        case .wipe(let id): output.append(Kind.wipe, id)
        case .key(let request): output.append(Kind.key, request)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .signIn: try fields.make(Self.signIn, from: bytes)
            case .enrol: try fields.make(Self.enrol, from: bytes)
            case .status: try fields.make(Self.status, from: bytes)
            case .wipe: try fields.make(Self.wipe, from: bytes)
            case .key: try fields.make(Self.key, from: bytes)
            }
    }
}

extension LoginResponse: Transferable {
    enum Kind: UInt8, CaseIterable, Transferable {
        case ticket, enrolled, state, wiped, nameTaken, failed, server, key, pinNeeded, adopted
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .ticket(let ticket): output.append(Kind.ticket, ticket)
        case .enrolled(let credential, let server, let binding):
            output.append(Kind.enrolled, credential, server, binding)
        case .state(let state): output.append(Kind.state, state)
        case .wiped: output.append(Kind.wiped)
        case .nameTaken: output.append(Kind.nameTaken)
        case .server(let server): output.append(Kind.server, server)
        case .key(let state): output.append(Kind.key, state)
        case .adopted(let state): output.append(Kind.adopted, state)
        case .pinNeeded: output.append(Kind.pinNeeded)
        case .failed(let error): output.append(Kind.failed, error)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .ticket: try fields.make(Self.ticket, from: bytes)
            case .enrolled: try fields.make(Self.enrolled, from: bytes)
            case .state: try fields.make(Self.state, from: bytes)
            case .wiped: .wiped
            case .nameTaken: .nameTaken
            case .server: try fields.make(Self.server, from: bytes)
            case .key: try fields.make(Self.key, from: bytes)
            case .adopted: try fields.make(Self.adopted, from: bytes)
            case .pinNeeded: .pinNeeded
            case .failed: try fields.make(Self.failed, from: bytes)
            }
    }
}

extension LoginTicket: Transferable {
    package func write(to output: FrameWriter) { output.append(text, expiresAt, verification) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

/// The state of an enrolment on the device, without the secret.
public struct LoginState: Sendable {
    /// The action of the next sign-in.
    public enum Progress: String, CaseIterable, Sendable {
        /// The sign-in presents the secret.
        case ready
        /// The sign-in requests a lost response again.
        case unanswered
        /// The sign-in sends nothing, because the secret is older than a secret that was already
        /// presented.
        case stale
    }

    /// The server to sign in to.
    public let server: ServerAddress
    /// The credential's public name.
    public let credential: Token
    /// The time of the last change, in Unix seconds.
    public let changed: Int64
    /// The number of secrets that preceded the current one.
    public let generation: UInt64
    /// The action of the next sign-in.
    public let progress: Progress

    /// The state of `secret`, which was opened from `vault`.
    ///
    /// - Throws: ``DeviceLoginError/vault(_:)``, ``DeviceLoginError/cryptography(_:)``.
    public init(of secret: EnrolledSecret, in vault: UnlockedVault) throws(DeviceLoginError) {
        server = secret.server.address
        credential = secret.credential
        changed = secret.changed
        generation = secret.generation
        let isStale = try secret.isStale(in: vault)
        progress = isStale ? .stale : secret.isUnanswered ? .unanswered : .ready
    }
}

extension LoginState: Transferable {
    package func write(to output: FrameWriter) {
        output.append(server, credential, changed, generation, progress)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        server = try fields.value(bytes)
        credential = try fields.value(bytes)
        changed = try fields.value(bytes)
        generation = try fields.value(bytes)
        progress = try fields.value(bytes)
    }
}

extension LoginState.Progress: Transferable {}

extension EntrySummary {
    /// Refuses an entry without an enrolled secret.
    ///
    /// - Throws: ``DeviceLoginError/otherKind``, ``DeviceLoginError/wiped(_:)``,
    ///   ``VaultError/vanished``.
    package func requireEnrolledSecret() throws(DeviceLoginError) {
        guard kind == .enrolled else { throw .otherKind }
        guard !hasVanished else { throw .vault(.vanished) }
        if let tombstone { throw .wiped(tombstone.reason) }
    }
}
