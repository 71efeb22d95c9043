package import Courier
package import Devices
package import SecretVault
package import WatchwordCryptography
package import WatchwordSystem

/// A request about a device key, from `watchword` to the process that holds the vault's key.
package enum KeyRequest: Sendable {
    /// Return the server's address, which the prompts before a use mention.
    case server(RecordID)
    case signIn(RecordID, SigningOrder)
    /// Sign a text that the person has seen.
    case confirm(RecordID, KeyConfirmation, SigningOrder)
    /// Show the local state.
    case status(RecordID)
    /// Make a key and register it.
    case enrol(KeyOrder)
}

/// The circumstances of a signature.
package struct SigningOrder: Hashable, Sendable {
    /// The server whose name the person has seen.
    package let server: ServerAddress
    /// The TPM, for a key in a TPM.
    package let tpm: TPMAddress

    package init(for server: ServerAddress, in tpm: TPMAddress) {
        self.server = server
        self.tpm = tpm
    }
}

extension KeyRequest {
    /// The key that signs; `nil` for requests that sign nothing.
    package var signing: RecordID? {
        switch self {
        case .signIn(let id, _), .confirm(let id, _, _): id
        case .server, .status, .enrol: nil
        }
    }
}

extension KeyRequest: Transferable {
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
    // The text has the form of the application's file, so that the same limits apply.
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

/// A device key to make and to register.
package struct KeyOrder: Sendable {
    /// The place where the key is made.
    package enum Place: Sendable {
        case vault
        case tpm(TPMAddress, NewPIN, attests: Bool)
        /// In this TPM, or in the vault if the TPM cannot be opened.
        case tpmOrVault(TPMAddress)
    }

    /// The PIN that the TPM will require before each signature.
    package enum NewPIN: Sendable {
        case none
        /// The person chooses the PIN only if a key will be made.
        case wanted
        case chosen(SecretBytes)
    }

    /// The ticket, and the properties of the entry for the key.
    package let enrolment: Enrolment
    package let place: Place

    package init(_ enrolment: Enrolment, in place: Place) {
        self.enrolment = enrolment
        self.place = place
    }

    /// The same order for an entry that is bound to a device and protected by `secure`.
    package func bound(
        to device: DeviceID?,
        securing secure: @escaping @Sendable (RecordID) throws(VaultError) -> Void
    ) -> KeyOrder {
        var enrolment = enrolment
        enrolment.device = device
        enrolment.secure = secure
        return KeyOrder(enrolment, in: place)
    }

    /// The same order with the PIN that the person has chosen.
    package func choosing(_ pin: SecretBytes) -> KeyOrder {
        guard case .tpm(let address, _, let attests) = place else { return self }
        return KeyOrder(enrolment, in: .tpm(address, .chosen(pin), attests: attests))
    }

    /// The key of an earlier run with this ticket.
    ///
    /// - Parameter earlier: the content of the earlier enrolments under this name.
    /// - Throws: ``DeviceLoginError/otherPlace`` if it was made without the PIN.
    package func made(
        in earlier: [RecordID: EntryContent]
    ) throws(DeviceLoginError) -> EnrolledKey? {
        guard let made = KeyEnrolment.made(for: enrolment, in: earlier) else { return nil }
        if case .tpm(_, .none, _) = place { return made }
        if case .tpm = place, !made.holding.requiresPIN { throw .otherPlace }
        return made
    }

    /// Whether the person must choose a PIN before a key is made.
    package var needsPIN: Bool {
        if case .tpm(_, .wanted, _) = place { true } else { false }
    }

    /// The TPM; `nil` for the vault.
    package var tpm: TPMAddress? {
        switch place {
        case .vault: nil
        case .tpm(let address, _, _), .tpmOrVault(let address): address
        }
    }

    /// The PIN that the person has chosen.
    var pin: SecretBytes? {
        if case .tpm(_, .chosen(let pin), _) = place { pin } else { nil }
    }

    /// Whether the TPM attests a new key to the server.
    var attests: Bool {
        if case .tpm(_, _, let attests) = place { attests } else { false }
    }
}

extension KeyOrder: Transferable {
    package func write(to output: FrameWriter) { output.append(enrolment, place) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init(_:in:), from: bytes)
    }
}

extension KeyOrder.Place: Transferable {
    private enum Kind: UInt8, Transferable {
        case vault, tpm, tpmOrVault
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .vault: output.append(Kind.vault)
        case .tpm(let address, let pin, let attests):
            output.append(Kind.tpm, address, pin, attests)
        case .tpmOrVault(let address): output.append(Kind.tpmOrVault, address)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .vault: .vault
            case .tpm: try fields.make(Self.tpm, from: bytes)
            case .tpmOrVault: try fields.make(Self.tpmOrVault, from: bytes)
            }
    }
}

extension KeyOrder.NewPIN: Transferable {
    private enum Kind: UInt8, Transferable {
        case none, wanted, chosen
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .none: output.append(Kind.none)
        case .wanted: output.append(Kind.wanted)
        case .chosen(let pin): output.append(Kind.chosen, pin)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .none: self = .none
        case .wanted: self = .wanted
        case .chosen:
            let pin: SecretBytes = try fields.value(bytes)
            guard (1...TokenRequest.longestPIN).contains(pin.count) else { throw Unreadable() }
            self = .chosen(pin)
        }
    }
}
