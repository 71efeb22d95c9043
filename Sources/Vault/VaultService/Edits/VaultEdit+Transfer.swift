internal import OneTimePassword
internal import SecretVault
package import WatchwordSystem

extension VaultEdit: Transferable {
    /// The kind of edit, in the first byte.
    enum Kind: UInt8, CaseIterable {
        case add, rename, remove, revise, importing
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .add(let entry):
            output.append(choice: Kind.add)
            output.append(entry)
        case .rename(let id, let name):
            output.append(choice: Kind.rename)
            output.append(id)
            output.append(name)
        case .remove(let id, let purge):
            output.append(choice: Kind.remove)
            output.append(id)
            output.append(purge)
        case .revise(let revision):
            output.append(choice: Kind.revise)
            output.append(revision)
        case .importing(let edit):
            output.append(choice: Kind.importing)
            output.append(edit)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .add: self = .add(try fields.value(bytes))
        case .rename: self = .rename(try fields.value(bytes), to: try fields.value(bytes))
        case .remove: self = .remove(try fields.value(bytes), purge: try fields.flag(bytes))
        case .revise: self = .revise(try fields.value(bytes))
        case .importing: self = .importing(try fields.value(bytes))
        }
    }
}

extension NewEntry: Transferable {
    package func write(to output: FrameWriter) {
        output.append(content)
        output.append(details)
        output.append(accessControl)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(
            try fields.value(bytes), details: try fields.value(bytes),
            accessControl: try fields.value(bytes))
    }
}

extension EntryRevision: Transferable {
    package func write(to output: FrameWriter) {
        output.append(id)
        output.append(position: kind)
        output.append(optional: issuer)
        output.append(optional: account)
        output.append(details)
        output.append(codes)
        output.append(access)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(
            id: try fields.value(bytes), kind: try fields.choiceByPosition(bytes),
            issuer: try fields.optional(bytes), account: try fields.optional(bytes),
            details: try fields.value(bytes), codes: try fields.value(bytes),
            access: try fields.value(bytes))
    }
}

extension DetailsChange: Transferable {
    package func write(to output: FrameWriter) {
        output.append(list: added)
        output.append(list: removed)
        output.append(optional: note)
        output.append(optional: icon)
        output.append(isFavourite != nil)
        if let isFavourite { output.append(isFavourite) }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(
            added: try fields.values(bytes, most: TransferLimits.parts),
            removed: try fields.values(bytes, most: TransferLimits.parts),
            note: try fields.optional(bytes), icon: try fields.optional(bytes),
            isFavourite: try fields.flag(bytes) ? fields.flag(bytes) : nil)
    }
}

extension CodeChange: Transferable {
    package func write(to output: FrameWriter) {
        output.append(algorithm != nil)
        if let algorithm { output.append(position: algorithm) }
        output.append(length != nil)
        if let length { output.append(UInt8(length.digits)) }
        output.append(optional: period)
        output.append(optional: counter)
        output.append(optional: secret)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(
            algorithm: try fields.flag(bytes) ? try fields.choiceByPosition(bytes) : nil,
            length: try fields.flag(bytes) ? try CodeChange.length(&fields, bytes) : nil,
            period: try fields.optional(bytes), counter: try fields.optional(bytes),
            secret: try fields.optional(bytes))
    }

    private static func length(
        _ fields: inout FieldReader, _ bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) -> CodeLength {
        let digits = Int(try fields.byte(bytes))
        do { return try CodeLength(digits: digits) } catch { throw FieldReader.Unreadable() }
    }
}
