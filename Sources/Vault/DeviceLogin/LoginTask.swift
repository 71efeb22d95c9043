package import Courier
package import SecretVault
package import WatchwordCryptography
package import WatchwordSystem

/// What `watchword` asks the process that holds a vault's key to do with an enrolled secret or a
/// device key.
package enum LoginTask: Sendable {
    /// Sign in.
    case signIn(RecordID)
    /// Redeem a ticket.
    case enrol(EnrolmentOrder)
    /// Show the local state.
    case status(RecordID)
    /// Wipe the secret or the key on this device.
    case wipe(RecordID)
    /// Use a device key.
    case key(KeyTask)
}

/// A ticket to redeem, and what becomes of the secret.
package struct EnrolmentOrder: Sendable {
    package let ticket: SecretBytes
    package let server: ServerAddress
    /// The certificate authorities to trust, in PEM; empty for the system's.
    package let authorities: [UInt8]
    package let deviceName: String
    /// The name of the entry.
    package let name: EntryName
    /// The changes to the access control of an earlier enrolment, or to the default.
    package let access: AccessControlChange

    package init(
        ticket: SecretBytes, server: ServerAddress, authorities: [UInt8], deviceName: String,
        name: EntryName, access: AccessControlChange
    ) {
        self.ticket = ticket
        self.server = server
        self.authorities = authorities
        self.deviceName = deviceName
        self.name = name
        self.access = access
    }

    /// The enrolment to perform.
    package var enrolment: Enrolment {
        Enrolment(
            server: server, authorities: authorities, deviceName: deviceName,
            name: (name.issuer, name.account), accessControl: access.applied)
    }

    /// Whether `entry` is an earlier enrolment under this name, which the new one replaces.
    package func replaces(_ entry: EntrySummary) -> Bool { EntryName(entry) == name }
}

/// The outcome of a ``LoginTask``.
package enum LoginAnswer: Sendable {
    case ticket(LoginTicket)
    case enrolled(credential: Token, server: ServerAddress)
    case state(LoginState)
    case wiped
    /// Another kind of entry has the name of the enrolment.
    case nameTaken
    /// The server of a device key.
    case server(ServerAddress)
    case key(KeyState)
    /// The key of an earlier run is in use; the ticket was not sent.
    case adopted(KeyState)
    /// The person must choose a PIN for a new key.
    case pinNeeded
    case failed(DeviceLoginError)
}

extension LoginTask {
    /// The entry that signs in or signs a text; `nil` if none does.
    package var signing: RecordID? {
        switch self {
        case .signIn(let id): id
        case .key(let task): task.signing
        case .enrol, .status, .wipe: nil
        }
    }

    /// Whether it may change the vault; the others only read it.
    package var mayChangeVault: Bool {
        switch self {
        case .status, .key(.server), .key(.status): false
        case .signIn, .enrol, .wipe, .key: true
        }
    }
}

extension LoginTask: Transferable {
    enum Kind: UInt8, CaseIterable, Transferable {
        case signIn, enrol, status, wipe, key
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .signIn(let id): output.append(Kind.signIn, id)
        case .enrol(let order): output.append(Kind.enrol, order)
        case .status(let id): output.append(Kind.status, id)
        case .wipe(let id): output.append(Kind.wipe, id)
        case .key(let task): output.append(Kind.key, task)
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

extension EnrolmentOrder: Transferable {
    package func write(to output: FrameWriter) {
        output.append(ticket, server)
        output.append(string: authorities.span)
        output.append(deviceName, name, access)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        ticket = try fields.value(bytes)
        server = try fields.value(bytes)
        authorities = try fields.data(bytes, limit: Enrolment.largestAuthorities)
        deviceName = try fields.text(bytes, limit: Enrolment.longestDeviceName)
        name = try fields.value(bytes)
        access = try fields.value(bytes)
    }
}

extension LoginAnswer: Transferable {
    enum Kind: UInt8, CaseIterable, Transferable {
        case ticket, enrolled, state, wiped, nameTaken, failed, server, key, pinNeeded, adopted
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .ticket(let ticket): output.append(Kind.ticket, ticket)
        case .enrolled(let credential, let server): output.append(Kind.enrolled, credential, server)
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
