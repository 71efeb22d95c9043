package import Courier
package import Devices
package import SecretVault
package import WatchwordSystem

/// What `watchword` asks the process that holds a vault's key to do with a device key.
package enum KeyTask: Sendable {
    /// Tell the server's address, which the questions before a use name.
    case server(RecordID)
    /// Sign in.
    case signIn(RecordID, SigningOrder)
    /// Sign a text that was shown.
    case confirm(RecordID, KeyConfirmation, SigningOrder)
    /// Show the local state.
    case status(RecordID)
    /// Make a key and register it.
    case enrol(KeyOrder)
}

/// The circumstances of a signature.
package struct SigningOrder: Hashable, Sendable {
    /// The server that the person was told.
    package let server: ServerAddress
    /// The TPM, for a key in a TPM.
    package let tpm: TPMAddress

    package init(for server: ServerAddress, in tpm: TPMAddress) {
        self.server = server
        self.tpm = tpm
    }
}

extension KeyTask {
    /// The key that signs; `nil` if none does.
    package var signing: RecordID? {
        switch self {
        case .signIn(let id, _), .confirm(let id, _, _): id
        case .server, .status, .enrol: nil
        }
    }
}

extension KeyTask: Transferable {
    enum Kind: UInt8, CaseIterable, Transferable {
        case server, signIn, confirm, status, enrol
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .server(let id): output.append(Kind.server, id)
        case .signIn(let id, let order): output.append(Kind.signIn, id, order)
        case .confirm(let id, let confirmation, let order):
            output.append(Kind.confirm, id, confirmation, order)
        case .status(let id): output.append(Kind.status, id)
        case .enrol(let order): output.append(Kind.enrol, order)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .server: try fields.make(Self.server, from: bytes)
            case .signIn: try fields.make(Self.signIn, from: bytes)
            case .confirm: try fields.make(Self.confirm, from: bytes)
            case .status: try fields.make(Self.status, from: bytes)
            case .enrol: try fields.make(Self.enrol, from: bytes)
            }
    }
}

extension SigningOrder: Transferable {
    package func write(to output: FrameWriter) { output.append(server, tpm) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init(for:in:), from: bytes)
    }
}

extension KeyConfirmation: Transferable {
    // In the form of the application's file, so that the same limits apply.
    package func write(to output: FrameWriter) { output.append(file) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        // A file may lack the last line feed.
        let file = try fields.text(bytes, limit: KeyConfirmation.largestFile + 1)
        guard let confirmation = KeyConfirmation(parsing: file), confirmation.file == file else {
            throw Unreadable()
        }
        self = confirmation
    }
}
