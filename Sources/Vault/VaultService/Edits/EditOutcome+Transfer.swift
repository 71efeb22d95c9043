package import OneTimePassword
internal import SecretVault
package import WatchwordSystem

extension EditOutcome: Transferable {
    /// The first byte, which identifies the outcome.
    enum Kind: UInt8, CaseIterable {
        case added, renamed, removed, revised, imported, refused
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .added(let twin):
            output.append(choice: Kind.added)
            output.append(optional: twin)
        case .renamed: output.append(choice: Kind.renamed)
        case .removed: output.append(choice: Kind.removed)
        case .revised(let name, let warnings):
            output.append(choice: Kind.revised)
            output.append(name)
            output.append(warnings.movesBack)
            output.append(list: warnings.credential)
        case .imported(let items, let replaced):
            output.append(choice: Kind.imported)
            output.append(list: items)
            output.append(list: replaced)
        case .refused(let refusal):
            output.append(choice: Kind.refused)
            output.append(refusal)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .added: self = .added(twin: try fields.optional(bytes))
        case .renamed: self = .renamed
        case .removed: self = .removed
        case .revised:
            let name: EntryName = try fields.value(bytes)
            let movesBack = try fields.flag(bytes)
            let warnings = RevisionWarnings(
                movesBack: movesBack, credential: try fields.values(bytes))
            self = .revised(name, warnings)
        case .imported:
            self = .imported(
                try fields.values(bytes), replacedPerUse: try fields.values(bytes))
        case .refused: self = .refused(try fields.value(bytes))
        }
    }
}

extension EditRefusal: Transferable {
    /// The first byte, which identifies the refusal.
    enum Kind: UInt8, CaseIterable {
        case emptyName, nameTaken, noSuchTag, period, credential
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .emptyName: output.append(choice: Kind.emptyName)
        case .nameTaken(let name):
            output.append(choice: Kind.nameTaken)
            output.append(name)
        case .noSuchTag(let name, let tag):
            output.append(choice: Kind.noSuchTag)
            output.append(name)
            output.append(tag)
        case .period: output.append(choice: Kind.period)
        case .credential(let error):
            output.append(choice: Kind.credential)
            output.append(error)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .emptyName: self = .emptyName
        case .nameTaken: self = .nameTaken(try fields.value(bytes))
        case .noSuchTag: self = .noSuchTag(try fields.value(bytes), tag: try fields.value(bytes))
        case .period: self = .period
        case .credential: self = .credential(try fields.value(bytes))
        }
    }
}

extension CredentialError: Transferable {
    /// The first byte, which identifies the error.
    enum Kind: UInt8, CaseIterable {
        case emptyKey, spaceAroundIssuer, spaceAroundAccount, tooLong, parameter,
            unsupportedLength, periodOutOfRange
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .emptyKey: output.append(choice: Kind.emptyKey)
        case .spaceAround(.issuer): output.append(choice: Kind.spaceAroundIssuer)
        case .spaceAround(.account): output.append(choice: Kind.spaceAroundAccount)
        case .tooLong: output.append(choice: Kind.tooLong)
        case .parameter(let position):
            output.append(choice: Kind.parameter)
            output.append(signed: Int64(position))
        case .unsupportedLength(let digits):
            output.append(choice: Kind.unsupportedLength)
            output.append(signed: Int64(digits))
        case .periodOutOfRange: output.append(choice: Kind.periodOutOfRange)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .emptyKey: self = .emptyKey
        case .spaceAroundIssuer: self = .spaceAround(.issuer)
        case .spaceAroundAccount: self = .spaceAround(.account)
        case .tooLong: self = .tooLong
        case .parameter: self = .parameter(position: try fields.integer(bytes))
        case .unsupportedLength: self = .unsupportedLength(try fields.integer(bytes))
        case .periodOutOfRange: self = .periodOutOfRange
        }
    }
}

extension CredentialWarning: Transferable {
    /// The first byte, which identifies the warning.
    enum Kind: UInt8, CaseIterable {
        case shortKey, digits, longPeriod
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .shortKey(let bits):
            output.append(choice: Kind.shortKey)
            output.append(signed: Int64(bits))
        case .digits(let digits):
            output.append(choice: Kind.digits)
            output.append(signed: Int64(digits))
        case .longPeriod(let seconds):
            output.append(choice: Kind.longPeriod)
            output.append(signed: seconds)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .shortKey: self = .shortKey(bits: try fields.integer(bytes))
        case .digits: self = .digits(try fields.integer(bytes))
        case .longPeriod: self = .longPeriod(seconds: try fields.signedNumber(bytes))
        }
    }
}
