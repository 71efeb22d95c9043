internal import WatchwordCoding
package import WatchwordCryptography
package import WatchwordSystem

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

extension RecoveryKey: Transferable {
    package func write(to output: FrameWriter) { output.append(secret) }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let secret: SecretBytes = try fields.value(bytes)
        guard secret.count == RecoveryKey.count else { throw FieldReader.Unreadable() }
        self.init(secret: secret)
    }
}

extension VaultOpener: Transferable {
    private enum Kind: UInt8 {
        case passphrase, recoveryKey, device
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .passphrase(let passphrase):
            output.append(choice: Kind.passphrase)
            output.append(passphrase)
        case .recoveryKey(let key):
            output.append(choice: Kind.recoveryKey)
            output.append(key)
        case .device(let secret, let slot):
            output.append(choice: Kind.device)
            output.append(secret)
            output.append(slot)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .passphrase: self = .passphrase(try fields.value(bytes))
        case .recoveryKey: self = .recoveryKey(try fields.value(bytes))
        case .device:
            let secret: SecretBytes = try fields.value(bytes)
            self = .device(secret, of: try fields.value(bytes))
        }
    }
}
