package import OneTimePassword
package import WatchwordSystem

extension EditOutcome: Transferable {
    /// The first byte, which identifies the outcome.
    enum Kind: UInt8, CaseIterable, Transferable {
        case added, renamed, removed, revised, imported, refused
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .added(let twin): output.append(Kind.added, twin)
        case .renamed: output.append(Kind.renamed)
        case .removed: output.append(Kind.removed)
        case .revised(let name, let warnings): output.append(Kind.revised, name, warnings)
        case .imported(let items, let replaced): output.append(Kind.imported, items, replaced)
        case .refused(let refusal): output.append(Kind.refused, refusal)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .added: try fields.make(Self.added, from: bytes)
            case .renamed: .renamed
            case .removed: .removed
            case .revised: try fields.make(Self.revised, from: bytes)
            case .imported: try fields.make(Self.imported, from: bytes)
            case .refused: try fields.make(Self.refused, from: bytes)
            }
    }
}

extension RevisionWarnings: Transferable {
    package func write(to output: FrameWriter) { output.append(movesBack, credential) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension EditRefusal: Transferable {
    /// The first byte, which identifies the refusal.
    enum Kind: UInt8, CaseIterable, Transferable {
        case emptyName, nameTaken, noSuchTag, period, emptyKey, tooLong
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .emptyName: output.append(Kind.emptyName)
        case .nameTaken(let name): output.append(Kind.nameTaken, name)
        case .noSuchTag(let name, let tag): output.append(Kind.noSuchTag, name, tag)
        case .period: output.append(Kind.period)
        case .emptyKey: output.append(Kind.emptyKey)
        case .tooLong: output.append(Kind.tooLong)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .emptyName: .emptyName
            case .nameTaken: try fields.make(Self.nameTaken, from: bytes)
            case .noSuchTag: try fields.make(Self.noSuchTag, from: bytes)
            case .period: .period
            case .emptyKey: .emptyKey
            case .tooLong: .tooLong
            }
    }
}

extension CredentialWarning: Transferable {
    /// The first byte, which identifies the warning.
    enum Kind: UInt8, CaseIterable, Transferable {
        case shortKey, digits, longPeriod
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .shortKey(let bits): output.append(Kind.shortKey, bits)
        case .digits(let digits): output.append(Kind.digits, digits)
        case .longPeriod(let seconds): output.append(Kind.longPeriod, seconds)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .shortKey: try fields.make(Self.shortKey, from: bytes)
            case .digits: try fields.make(Self.digits, from: bytes)
            case .longPeriod: try fields.make(Self.longPeriod, from: bytes)
            }
    }
}
