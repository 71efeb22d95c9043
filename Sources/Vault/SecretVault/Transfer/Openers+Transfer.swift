internal import WatchwordCoding
package import WatchwordCryptography
package import WatchwordSystem

extension VaultOpener: Transferable {
    enum Kind: UInt8, CaseIterable, Transferable {
        case passphrase, recoveryKey, device
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .passphrase(let passphrase): output.append(Kind.passphrase, passphrase)
        case .recoveryKey(let key): output.append(Kind.recoveryKey, key)
        case .device(let secret, let slot): output.append(Kind.device, secret, slot)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .passphrase: try fields.make(Self.passphrase, from: bytes)
            case .recoveryKey: try fields.make(Self.recoveryKey, from: bytes)
            case .device: try fields.make(Self.device, from: bytes)
            }
    }
}

extension RecoveryKey: Transferable {
    package func write(to output: FrameWriter) { output.append(secret) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let secret: SecretBytes = try fields.value(bytes)
        guard secret.count == RecoveryKey.count else { throw Unreadable() }
        self.init(secret: secret)
    }
}

extension SecretBytes {
    package convenience init(encoding value: some Transferable) throws(SystemCallFailure) {
        let frame = try FrameWriter()
        frame.append(value)
        try frame.requireWhole()
        let count = frame.withContent { $0.count }
        self.init(capacity: count) { output in
            frame.withContent { output.append(copying: $0) }
        }
    }
}

extension SlotSummary: Transferable {
    package func write(to output: FrameWriter) {
        output.append(number, method, created, publicKey)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init(number:method:created:publicKey:), from: bytes)
    }
}

extension SlotSummary.Method: Transferable {
    enum Kind: UInt8, CaseIterable, Transferable {
        case passphrase, recoveryKey, tpm2, fido2, other
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .passphrase(let logN): output.append(Kind.passphrase, logN)
        case .recoveryKey: output.append(Kind.recoveryKey)
        case .tpm2(let object): output.append(Kind.tpm2, object)
        case .fido2(let credential): output.append(Kind.fido2, credential)
        case .other(let name): output.append(Kind.other, name)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .passphrase: try fields.make(Self.passphrase, from: bytes)
            case .recoveryKey: .recoveryKey
            case .tpm2: try fields.make(Self.tpm2, from: bytes)
            case .fido2: try fields.make(Self.fido2, from: bytes)
            case .other: try fields.make(Self.other, from: bytes)
            }
    }
}
