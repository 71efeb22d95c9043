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
    private enum Kind: UInt8 {
        case signIn, enrol, status, wipe, key
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .signIn(let id):
            output.append(choice: Kind.signIn)
            output.append(id)
        case .enrol(let order):
            output.append(choice: Kind.enrol)
            output.append(order)
        case .status(let id):
            output.append(choice: Kind.status)
            output.append(id)
        case .wipe(let id):
            output.append(choice: Kind.wipe)
            output.append(id)
        case .key(let task):
            output.append(choice: Kind.key)
            output.append(task)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .signIn: self = .signIn(try fields.value(bytes))
        case .enrol: self = .enrol(try fields.value(bytes))
        case .status: self = .status(try fields.value(bytes))
        case .wipe: self = .wipe(try fields.value(bytes))
        case .key: self = .key(try fields.value(bytes))
        }
    }
}

extension EnrolmentOrder: Transferable {
    package func write(to output: FrameWriter) {
        output.append(ticket)
        output.append(server)
        output.append(string: authorities.span)
        output.append(deviceName)
        output.append(name)
        output.append(access)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        ticket = try fields.value(bytes)
        server = try fields.value(bytes)
        let range = try fields.string(bytes, limit: Enrolment.largestAuthorities)
        authorities = [UInt8](copying: bytes.extracting(range))
        deviceName = try fields.text(bytes, limit: Enrolment.longestDeviceName)
        name = try fields.value(bytes)
        access = try fields.value(bytes)
    }
}

extension LoginAnswer: Transferable {
    private enum Kind: UInt8 {
        case ticket, enrolled, state, wiped, nameTaken, failed, server, key, pinNeeded, adopted
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .ticket(let ticket):
            output.append(choice: Kind.ticket)
            output.append(ticket)
        case .enrolled(let credential, let server):
            output.append(choice: Kind.enrolled)
            output.append(credential)
            output.append(server)
        case .state(let state):
            output.append(choice: Kind.state)
            output.append(state)
        case .wiped: output.append(choice: Kind.wiped)
        case .nameTaken: output.append(choice: Kind.nameTaken)
        case .server(let server):
            output.append(choice: Kind.server)
            output.append(server)
        case .key(let state):
            output.append(choice: Kind.key)
            output.append(state)
        case .adopted(let state):
            output.append(choice: Kind.adopted)
            output.append(state)
        case .pinNeeded: output.append(choice: Kind.pinNeeded)
        case .failed(let error):
            output.append(choice: Kind.failed)
            output.append(error)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .ticket: self = .ticket(try fields.value(bytes))
        case .enrolled:
            self = .enrolled(
                credential: try fields.value(bytes), server: try fields.value(bytes))
        case .state: self = .state(try fields.value(bytes))
        case .wiped: self = .wiped
        case .nameTaken: self = .nameTaken
        case .server: self = .server(try fields.value(bytes))
        case .key: self = .key(try fields.value(bytes))
        case .adopted: self = .adopted(try fields.value(bytes))
        case .pinNeeded: self = .pinNeeded
        case .failed: self = .failed(try fields.value(bytes))
        }
    }
}

extension LoginTicket: Transferable {
    package func write(to output: FrameWriter) {
        output.append(text)
        output.append(expiresAt)
        output.append(verification)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(
            text: try fields.value(bytes), expiresAt: try fields.value(bytes),
            verification: try fields.value(bytes))
    }
}
