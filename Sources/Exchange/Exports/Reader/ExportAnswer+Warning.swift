package import OneTimePassword
package import WatchwordSystem

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
