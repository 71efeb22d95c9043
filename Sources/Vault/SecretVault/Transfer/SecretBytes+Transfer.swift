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
    /// The encoding of `value`.
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
