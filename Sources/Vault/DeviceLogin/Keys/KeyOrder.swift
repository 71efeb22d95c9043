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
    package func keyPlace(through access: (TPMAddress) -> TPMAccess) -> KeyPlace {
        switch place {
        case .vault: return .vault
        case .tpmOrVault(let address): return .tpmOrVault(access(address))
        case .tpm(let address, let pin, let attests):
            guard case .chosen(let pin) = pin else {
                return .tpm(access(address), pin: nil, attests: attests)
            }
            return .tpm(access(address), pin: pin, attests: attests)
        }
    }
}

extension KeyOrder: Transferable {
    private enum Kind: UInt8 {
        case vault, tpm, tpmWithPIN, tpmWithChosenPIN, tpmOrVault
    }

    package func write(to output: FrameWriter) {
        output.append(enrolment)
        switch place {
        case .vault: output.append(choice: Kind.vault)
        case .tpm(let address, let pin, let attests):
            switch pin {
            case .none: output.append(choice: Kind.tpm)
            case .wanted: output.append(choice: Kind.tpmWithPIN)
            case .chosen(let pin):
                output.append(choice: Kind.tpmWithChosenPIN)
                output.append(pin)
            }
            output.append(address)
            output.append(attests)
        case .tpmOrVault(let address):
            output.append(choice: Kind.tpmOrVault)
            output.append(address)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        enrolment = try fields.value(bytes)
        let kind: Kind = try fields.choice(bytes)
        let pin: NewPIN
        switch kind {
        case .vault:
            place = .vault
            return
        case .tpmOrVault:
            place = .tpmOrVault(try fields.value(bytes))
            return
        case .tpm: pin = .none
        case .tpmWithPIN: pin = .wanted
        case .tpmWithChosenPIN:
            let chosen: SecretBytes = try fields.value(bytes)
            guard (1...TokenRequest.longestPIN).contains(chosen.count) else {
                throw FieldReader.Unreadable()
            }
            pin = .chosen(chosen)
        }
        place = .tpm(try fields.value(bytes), pin, attests: try fields.flag(bytes))
    }
}
