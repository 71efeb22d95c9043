package import OneTimePassword
internal import WatchwordCoding
internal import WatchwordCryptography
package import WatchwordSystem

/// A reader's answer about an export.
enum ExportAnswer {
    /// The file is an export.
    case export(Export)
    /// The file is not an export, or could not be read.
    case refused(ExportError)

    /// The frame with this answer, or with the reason why it cannot be sent.
    func frame(limit: Int = ExportLimits.standard.answer) throws(SystemCallFailure) -> FrameWriter {
        let frame = try FrameWriter(self, limit: Int(UInt32.max))
        do throws(SystemCallFailure) { try frame.requireWhole() } catch {
            return try FrameWriter(ExportAnswer.refused(.outOfMemory))
        }
        let count = frame.withContent { $0.count }
        guard case .export(let export) = self, count > limit else { return frame }
        return try FrameWriter(
            ExportAnswer.refused(
                .overLimit(
                    export.format, .documentSize, found: UInt64(count), allowed: UInt64(limit))))
    }
}

extension ExportAnswer: Transferable {
    private enum Kind: UInt8, Transferable {
        case export, refused
    }

    func write(to output: FrameWriter) {
        switch self {
        case .export(let export): output.append(Kind.export, export)
        case .refused(let error): output.append(Kind.refused, error)
        }
    }

    init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .export: self = try fields.make(Self.export, from: bytes)
        case .refused: self = try fields.make(Self.refused, from: bytes)
        }
    }
}

extension Export: Transferable {
    package func write(to output: FrameWriter) {
        output.append(
            format, entries, refusals, UInt32(clamping: iconCount),
            missingPictures.map { UInt32(clamping: $0) }, UInt32(clamping: emergencyCodeCount))
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self.init(
            format: try fields.value(bytes),
            entries: try fields.list(bytes, most: ExportLimits.longestList),
            refusals: try fields.list(bytes, most: ExportLimits.longestList),
            iconCount: Int(try fields.value(bytes) as UInt32))
        missingPictures = try fields.list(bytes, most: ExportLimits.longestList) {
            (fields, bytes) throws(Unreadable) in try fields.position(bytes)
        }
        emergencyCodeCount = Int(try fields.value(bytes) as UInt32)
    }
}

extension ExportRefusal: Transferable {
    package func write(to output: FrameWriter) {
        output.append(
            UInt32(clamping: row), UInt32(clamping: line ?? 0), issuer, account, reason)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self.init(
            row: try fields.position(bytes), line: try fields.line(bytes),
            issuer: try fields.value(bytes), account: try fields.value(bytes),
            reason: try fields.value(bytes))
    }
}

extension FieldReader {
    /// Reads a position that is counted from one.
    fileprivate mutating func position(_ bytes: Span<UInt8>) throws(Unreadable) -> Int {
        guard let position = try line(bytes) else { throw Unreadable() }
        return position
    }

    /// Reads a line's number; 0 stands for none.
    mutating func line(_ bytes: Span<UInt8>) throws(Unreadable) -> Int? {
        let line = Int(try value(bytes) as UInt32)
        return line == 0 ? nil : line
    }
}

extension ExportError: Transferable {
    private enum Kind: UInt8, Transferable {
        case unknownFormat, passwordNeeded, wrongPassword, damaged, notJSON, newerVersion
        case unreadable, overLimit, noEntries, outOfMemory
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .unknownFormat: output.append(Kind.unknownFormat)
        case .passwordNeeded(let format): output.append(Kind.passwordNeeded, format)
        case .wrongPassword(let format): output.append(Kind.wrongPassword, format)
        case .damaged(let format): output.append(Kind.damaged, format)
        case .notJSON: output.append(Kind.notJSON)
        case .newerVersion(let format): output.append(Kind.newerVersion, format)
        case .unreadable(let format, let obstacle):
            output.append(Kind.unreadable, format, obstacle)
        case .overLimit(let format, let limit, let found, let allowed):
            output.append(Kind.overLimit, format, limit, found, allowed)
        case .noEntries(let format): output.append(Kind.noEntries, format)
        case .outOfMemory: output.append(Kind.outOfMemory)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .unknownFormat: self = .unknownFormat
        case .passwordNeeded: self = try fields.make(Self.passwordNeeded, from: bytes)
        case .wrongPassword: self = try fields.make(Self.wrongPassword, from: bytes)
        case .damaged: self = try fields.make(Self.damaged, from: bytes)
        case .notJSON: self = .notJSON
        case .newerVersion: self = try fields.make(Self.newerVersion, from: bytes)
        case .unreadable: self = try fields.make(Self.unreadable, from: bytes)
        case .overLimit: self = try fields.make(Self.overLimit, from: bytes)
        case .noEntries: self = try fields.make(Self.noEntries, from: bytes)
        case .outOfMemory: self = .outOfMemory
        }
    }
}

// By name, so that a new case does not change the encoding of the other cases.
extension ExportFormat: Transferable {
    package func write(to output: FrameWriter) { output.append(rawValue) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        guard let format = Self(rawValue: try fields.value(bytes)) else { throw Unreadable() }
        self = format
    }
}

extension ExportObstacle: Transferable {}
extension ExportLimit: Transferable {}
extension ExportRowRefusal: Transferable {}

extension ExportedEntry: Transferable {
    package func write(to output: FrameWriter) {
        output.append(
            content, Array(tags.prefix(ExportProtocol.mostTags)), note, icon, isFavourite, state,
            Array(warnings.prefix(ExportProtocol.mostWarnings)), UInt32(clamping: line ?? 0),
            lastUsedStep)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self.init(
            content: try fields.value(bytes),
            tags: try fields.list(bytes, most: ExportProtocol.mostTags),
            note: try fields.value(bytes), icon: try fields.value(bytes),
            isFavourite: try fields.value(bytes))
        state = try fields.value(bytes)
        warnings = try fields.list(bytes, most: ExportProtocol.mostWarnings)
        line = try fields.line(bytes)
        lastUsedStep = try fields.value(bytes)
    }
}

extension ExportedEntry.State: Transferable {}

extension ExportedEntry.Content: Transferable {
    private enum Kind: UInt8, Transferable {
        case oneTimePassword, notComputed
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .oneTimePassword(let credential): output.append(Kind.oneTimePassword, credential)
        case .notComputed(let code): output.append(Kind.notComputed, code)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .oneTimePassword: self = .oneTimePassword(try fields.value(bytes))
        case .notComputed: self = .notComputed(try fields.value(bytes))
        }
    }
}

extension Credential: Transferable {
    package func write(to output: FrameWriter) {
        output.append(issuer, account, key, algorithm, style, movingFactor, otherParameters)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        do {
            try self.init(
                issuer: try fields.value(bytes), account: try fields.value(bytes),
                key: try fields.value(bytes), algorithm: try fields.value(bytes),
                style: try fields.value(bytes), movingFactor: try fields.value(bytes),
                otherParameters: try fields.value(bytes))
        } catch {
            throw Unreadable()
        }
    }
}

extension Credential.Parameter: Transferable {
    package func write(to output: FrameWriter) { output.append(name, value) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init(name:value:), from: bytes)
    }
}

// The number of digits; 0 stands for Steam Guard's alphabet.
extension CodeStyle: Transferable {
    package func write(to output: FrameWriter) {
        switch self {
        case .decimal(let length): output.append(UInt8(clamping: length.digits))
        case .steam: output.append(0 as UInt8)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let digits = Int(try fields.byte(bytes))
        guard digits > 0 else {
            self = .steam
            return
        }
        guard let length = CodeLength(digits: digits) else { throw Unreadable() }
        self = .decimal(length)
    }
}

extension MovingFactor: Transferable {
    private enum Kind: UInt8, Transferable {
        case time, counter
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .time(let step): output.append(Kind.time, step.period, step.start)
        case .counter(let counter): output.append(Kind.counter, counter)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .time: self = .time(try fields.make(TimeStep.init(period:start:), from: bytes))
        case .counter: self = .counter(try fields.value(bytes))
        }
    }
}

extension UncomputedCode: Transferable {
    package func write(to output: FrameWriter) {
        output.append(kind, issuer, account, secret, pin)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init(kind:issuer:account:secret:pin:), from: bytes)
        guard secret.count > 0 else { throw Unreadable() }
    }
}

extension UncomputedCode.Kind: Transferable {}

extension ExportWarning: Transferable {
    private enum Kind: UInt8, Transferable {
        case incompleteSecret, steamParameters, counterOfLastCode, keyURI
        case shortKey, digits, longPeriod
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .incompleteSecret: output.append(Kind.incompleteSecret)
        case .steamParameters: output.append(Kind.steamParameters)
        case .counterOfLastCode: output.append(Kind.counterOfLastCode)
        case .keyURI(let warning): output.append(Kind.keyURI, warning)
        case .credential(.shortKey(let bits)):
            output.append(Kind.shortKey, UInt32(clamping: bits))
        case .credential(.digits(let digits)):
            output.append(Kind.digits, UInt32(clamping: digits))
        case .credential(.longPeriod(let seconds)): output.append(Kind.longPeriod, seconds)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .incompleteSecret: self = .incompleteSecret
        case .steamParameters: self = .steamParameters
        case .counterOfLastCode: self = .counterOfLastCode
        case .keyURI: self = try fields.make(Self.keyURI, from: bytes)
        case .shortKey:
            self = .credential(.shortKey(bits: Int(try fields.value(bytes) as UInt32)))
        case .digits: self = .credential(.digits(Int(try fields.value(bytes) as UInt32)))
        case .longPeriod: self = .credential(.longPeriod(seconds: try fields.value(bytes)))
        }
    }
}

extension KeyURIWarning: Transferable {
    private enum Kind: UInt8, Transferable {
        case plain, aboutPart, key, misnamedParameter
    }

    /// The cases without further facts.
    private static let plain: [KeyURIWarning] = [
        .appleScheme, .spacesAroundURI, .emptyLabel, .emptyIssuer, .severalColons, .issuersDiffer,
        .emptyParameter, .algorithmSpelling, .missingCounter, .steamByIssuer, .steamByEncoder,
    ]
    /// The cases that name a part.
    private static let aboutPart: [@Sendable (KeyURIPart) -> KeyURIWarning] = [
        Self.spacesAround, Self.rawSpace, Self.rawNonASCII, Self.readAsLatin1, Self.rawHash,
        Self.rawPercent, Self.plusAsSpace, Self.plusKept, Self.parameterName, Self.emptyValue,
        Self.otherType, Self.unknownParameter,
    ]

    package func write(to output: FrameWriter) {
        switch self {
        case .spacesAround(let part), .rawSpace(let part), .rawNonASCII(let part),
            .readAsLatin1(let part), .rawHash(let part), .rawPercent(let part),
            .plusAsSpace(let part), .plusKept(let part), .parameterName(let part),
            .emptyValue(let part), .otherType(let part), .unknownParameter(let part):
            output.append(Kind.aboutPart)
            output.append(self, in: KeyURIWarning.aboutPart.map { $0(part) })
            output.append(part)
        case .key(let deviation): output.append(Kind.key, deviation)
        case .misnamedParameter(let alias): output.append(Kind.misnamedParameter, alias.name)
        case .appleScheme, .spacesAroundURI, .emptyLabel, .emptyIssuer, .severalColons,
            .issuersDiffer, .emptyParameter, .algorithmSpelling, .missingCounter, .steamByIssuer,
            .steamByEncoder:
            output.append(Kind.plain)
            output.append(self, in: KeyURIWarning.plain)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .plain: self = try fields.value(bytes, in: KeyURIWarning.plain)
        case .aboutPart:
            let warning = try fields.value(bytes, in: KeyURIWarning.aboutPart)
            self = warning(try fields.value(bytes))
        case .key: self = try fields.make(Self.key, from: bytes)
        case .misnamedParameter:
            guard let alias = KeyURIParameterAlias(try fields.value(bytes) as String) else {
                throw Unreadable()
            }
            self = .misnamedParameter(name: alias)
        }
    }
}

extension Base32Deviation: Transferable {}

extension KeyURIPart: Transferable {
    private enum Kind: UInt8, Transferable {
        case named, parameter
    }

    private static let named: [KeyURIPart] = [
        .scheme, .type, .label, .issuer, .account, .secret, .algorithm, .digits, .period,
        .counter, .start, .encoder,
    ]

    package func write(to output: FrameWriter) {
        if case .parameter(let position) = self {
            output.append(Kind.parameter, UInt32(clamping: position))
        } else {
            output.append(Kind.named)
            output.append(self, in: KeyURIPart.named)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .named: self = try fields.value(bytes, in: KeyURIPart.named)
        case .parameter: self = .parameter(Int(try fields.value(bytes) as UInt32))
        }
    }
}
