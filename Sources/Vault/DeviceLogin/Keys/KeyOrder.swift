package import Devices
package import SecretVault
package import WatchwordCryptography
package import WatchwordSystem

/// A device key to make and to register.
package struct KeyOrder: Sendable {
    /// Where to make the key.
    package enum Place: Sendable {
        /// In the vault.
        case vault
        /// In this TPM.
        case tpm(TPMAddress, NewPIN, attests: Bool)
        /// In this TPM, or in the vault if the TPM cannot be opened.
        case tpmOrVault(TPMAddress)
    }

    /// The PIN that the TPM is to require before each signature.
    package enum NewPIN: Sendable {
        case none
        /// The person chooses it only if a key is to be made.
        case wanted
        case chosen(SecretBytes)
    }

    /// The ticket, and what becomes of the key.
    package let enrolment: EnrolmentOrder
    package let place: Place

    package init(_ enrolment: EnrolmentOrder, in place: Place) {
        self.enrolment = enrolment
        self.place = place
    }

    /// The same order with the PIN that the person has chosen.
    package func choosing(_ pin: SecretBytes) -> KeyOrder {
        guard case .tpm(let address, _, let attests) = place else { return self }
        return KeyOrder(enrolment, in: .tpm(address, .chosen(pin), attests: attests))
    }

    /// The key that an earlier run with this ticket has made.
    ///
    /// - Parameter earlier: the content of the earlier enrolments under this name.
    /// - Throws: ``DeviceLoginError/otherPlace`` if it was made without the PIN.
    package func made(
        in earlier: [RecordID: EntryContent]
    ) throws(DeviceLoginError) -> EnrolledKey? {
        let made = KeyEnrolment.made(
            for: enrolment.enrolment, with: enrolment.ticket, in: earlier)
        guard let made else { return nil }
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

    /// Where the key is made.
    ///
    /// - Parameter access: who talks to a TPM.
    package func keyPlace<Failure: Error>(
        through access: (TPMAddress) throws(Failure) -> TPMAccess
    ) throws(Failure) -> KeyPlace {
        switch place {
        case .vault: return .vault
        case .tpmOrVault(let address): return .tpmOrVault(try access(address))
        case .tpm(let address, let pin, let attests):
            guard case .chosen(let pin) = pin else {
                return .tpm(try access(address), pin: nil, attests: attests)
            }
            return .tpm(try access(address), pin: pin, attests: attests)
        }
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
