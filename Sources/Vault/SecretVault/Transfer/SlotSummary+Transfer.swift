internal import WatchwordCryptography
package import WatchwordSystem

extension SlotSummary: Transferable {
    private enum Kind: UInt8 {
        case passphrase, recoveryKey, other, tpm2, fido2
    }

    package func write(to output: FrameWriter) {
        output.append(signed: Int64(number))
        output.append(signed: created)
        output.append(string: publicKey.span)
        switch method {
        case .passphrase(let logN):
            output.append(choice: Kind.passphrase)
            output.append(signed: Int64(logN))
        case .recoveryKey: output.append(choice: Kind.recoveryKey)
        case .tpm2(let object):
            output.append(choice: Kind.tpm2)
            output.append(object)
        case .fido2(let credential):
            output.append(choice: Kind.fido2)
            output.append(credential)
        case .other(let name):
            output.append(choice: Kind.other)
            output.append(name)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let number = try fields.integer(bytes)
        let created = try fields.signedNumber(bytes)
        let range = try fields.string(bytes, limit: TransferLimits.string)
        let kind: Kind = try fields.choice(bytes)
        let method: Method =
            switch kind {
            case .passphrase: .passphrase(logN: try fields.integer(bytes))
            case .recoveryKey: .recoveryKey
            case .tpm2: .tpm2(try fields.value(bytes))
            case .fido2: .fido2(try fields.value(bytes))
            case .other: .other(try fields.value(bytes))
            }
        self.init(
            number: number, method: method, created: created,
            publicKey: [UInt8](copying: bytes.extracting(range)))
    }
}
