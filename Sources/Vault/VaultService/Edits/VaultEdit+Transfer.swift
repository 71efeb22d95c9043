package import OneTimePassword
internal import SecretVault
package import WatchwordCryptography
package import WatchwordSystem

extension VaultEdit: Transferable {
    /// The kind of edit, in the first byte.
    enum Kind: UInt8, CaseIterable, Transferable {
        case add, rename, remove, revise, importing
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .add(let entry): output.append(Kind.add, entry)
        case .rename(let id, let name): output.append(Kind.rename, id, name)
        case .remove(let id, let purge): output.append(Kind.remove, id, purge)
        case .revise(let revision): output.append(Kind.revise, revision)
        case .importing(let edit): output.append(Kind.importing, edit)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .add: try fields.make(Self.add, from: bytes)
            case .rename: try fields.make(Self.rename, from: bytes)
            case .remove: try fields.make(Self.remove, from: bytes)
            case .revise: try fields.make(Self.revise, from: bytes)
            case .importing: try fields.make(Self.importing, from: bytes)
            }
    }
}

extension NewEntry: Transferable {
    package func write(to output: FrameWriter) { output.append(content, details, accessControl) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension EntryRevision: Transferable {
    package func write(to output: FrameWriter) {
        output.append(id, kind, issuer, account, details, codes, access)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(
            Self.init(id:kind:issuer:account:details:codes:access:), from: bytes)
    }
}

extension DetailsChange: Transferable {
    package func write(to output: FrameWriter) {
        output.append(added, removed, note, icon, isFavourite)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self.init(
            added: try fields.list(bytes, most: TransferLimits.parts),
            removed: try fields.list(bytes, most: TransferLimits.parts),
            note: try fields.value(bytes), icon: try fields.value(bytes),
            isFavourite: try fields.value(bytes))
    }
}

extension CodeChange: Transferable {
    package func write(to output: FrameWriter) {
        output.append(algorithm, length, period, counter, secret)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension CodeLength: Transferable {
    package func write(to output: FrameWriter) { output.append(digits) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init(digits:), from: bytes)
    }
}

extension HashAlgorithm: Transferable {}
