internal import OneTimePassword
internal import WatchwordSystem

// A warning: 1 byte for its kind, then its value: a number of 8 bytes, a part of a key URI (1 byte;
// a parameter's position follows in 4 bytes), a deviation from Base32 (1 byte) or a name.

private enum WarningCode: UInt8 {
    case incompleteSecret, steamParameters, counterOfLastCode
    case shortKey, digits, longPeriod
    case appleScheme, spacesAroundURI, spacesAround, rawSpace, rawNonASCII, readAsLatin1
    case rawHash, rawPercent, plusAsSpace, plusKept, emptyLabel, emptyIssuer, severalColons
    case issuersDiffer, parameterName, emptyValue, emptyParameter, key, algorithmSpelling
    case missingCounter, steamByIssuer, steamByEncoder, otherType, unknownParameter
    case misnamedParameter
}

private enum PartCode: UInt8 {
    case scheme, type, label, issuer, account
    case secret, algorithm, digits, period, counter, start, encoder, parameter
}

extension AnswerWriter {
    mutating func append(_ warning: ExportWarning) {
        switch warning {
        case .incompleteSecret: append(code: .incompleteSecret)
        case .steamParameters: append(code: .steamParameters)
        case .counterOfLastCode: append(code: .counterOfLastCode)
        case .keyURI(let warning): append(warning)
        case .credential(.shortKey(let bits)): append(code: .shortKey, Int64(bits))
        case .credential(.digits(let digits)): append(code: .digits, Int64(digits))
        case .credential(.longPeriod(let seconds)): append(code: .longPeriod, seconds)
        }
    }

    private mutating func append(_ warning: KeyURIWarning) {
        switch warning {
        case .appleScheme: append(code: .appleScheme)
        case .spacesAroundURI: append(code: .spacesAroundURI)
        case .spacesAround(let part): append(code: .spacesAround, part)
        case .rawSpace(let part): append(code: .rawSpace, part)
        case .rawNonASCII(let part): append(code: .rawNonASCII, part)
        case .readAsLatin1(let part): append(code: .readAsLatin1, part)
        case .rawHash(let part): append(code: .rawHash, part)
        case .rawPercent(let part): append(code: .rawPercent, part)
        case .plusAsSpace(let part): append(code: .plusAsSpace, part)
        case .plusKept(let part): append(code: .plusKept, part)
        case .emptyLabel: append(code: .emptyLabel)
        case .emptyIssuer: append(code: .emptyIssuer)
        case .severalColons: append(code: .severalColons)
        case .issuersDiffer: append(code: .issuersDiffer)
        case .parameterName(let part): append(code: .parameterName, part)
        case .emptyValue(let part): append(code: .emptyValue, part)
        case .emptyParameter: append(code: .emptyParameter)
        case .key(let deviation):
            append(code: .key)
            append(choice: deviation)
        case .algorithmSpelling: append(code: .algorithmSpelling)
        case .missingCounter: append(code: .missingCounter)
        case .steamByIssuer: append(code: .steamByIssuer)
        case .steamByEncoder: append(code: .steamByEncoder)
        case .otherType(let part): append(code: .otherType, part)
        case .unknownParameter(let part): append(code: .unknownParameter, part)
        case .misnamedParameter(let alias):
            append(code: .misnamedParameter)
            append(alias.name)
        }
    }

    private mutating func append(code: WarningCode) { append(code.rawValue) }

    private mutating func append(code: WarningCode, _ number: Int64) {
        append(code: code)
        append(UInt64(bitPattern: number), width: 8)
    }

    private mutating func append(code: WarningCode, _ part: KeyURIPart) {
        append(code: code)
        switch part {
        case .scheme: append(PartCode.scheme.rawValue)
        case .type: append(PartCode.type.rawValue)
        case .label: append(PartCode.label.rawValue)
        case .issuer: append(PartCode.issuer.rawValue)
        case .account: append(PartCode.account.rawValue)
        case .secret: append(PartCode.secret.rawValue)
        case .algorithm: append(PartCode.algorithm.rawValue)
        case .digits: append(PartCode.digits.rawValue)
        case .period: append(PartCode.period.rawValue)
        case .counter: append(PartCode.counter.rawValue)
        case .start: append(PartCode.start.rawValue)
        case .encoder: append(PartCode.encoder.rawValue)
        case .parameter(let position):
            append(PartCode.parameter.rawValue)
            append(count: position)
        }
    }
}

extension FieldReader {
    mutating func exportWarning(_ bytes: Span<UInt8>) throws(Unreadable) -> ExportWarning {
        let code: WarningCode = try choice(bytes)
        switch code {
        case .incompleteSecret: return .incompleteSecret
        case .steamParameters: return .steamParameters
        case .counterOfLastCode: return .counterOfLastCode
        case .shortKey:
            guard let bits = Int(exactly: try number(bytes, width: 8)) else { throw Unreadable() }
            return .credential(.shortKey(bits: bits))
        case .digits:
            guard let digits = Int(exactly: try number(bytes, width: 8)) else {
                throw Unreadable()
            }
            return .credential(.digits(digits))
        case .longPeriod: return .credential(.longPeriod(seconds: try signedNumber(bytes)))
        default: return .keyURI(try keyURIWarning(code, bytes))
        }
    }

    private mutating func keyURIWarning(
        _ code: WarningCode, _ bytes: Span<UInt8>
    ) throws(Unreadable) -> KeyURIWarning {
        switch code {
        case .appleScheme: return .appleScheme
        case .spacesAroundURI: return .spacesAroundURI
        case .spacesAround: return .spacesAround(try part(bytes))
        case .rawSpace: return .rawSpace(try part(bytes))
        case .rawNonASCII: return .rawNonASCII(try part(bytes))
        case .readAsLatin1: return .readAsLatin1(try part(bytes))
        case .rawHash: return .rawHash(try part(bytes))
        case .rawPercent: return .rawPercent(try part(bytes))
        case .plusAsSpace: return .plusAsSpace(try part(bytes))
        case .plusKept: return .plusKept(try part(bytes))
        case .emptyLabel: return .emptyLabel
        case .emptyIssuer: return .emptyIssuer
        case .severalColons: return .severalColons
        case .issuersDiffer: return .issuersDiffer
        case .parameterName: return .parameterName(try part(bytes))
        case .emptyValue: return .emptyValue(try part(bytes))
        case .emptyParameter: return .emptyParameter
        case .key: return .key(try choiceByPosition(bytes))
        case .algorithmSpelling: return .algorithmSpelling
        case .missingCounter: return .missingCounter
        case .steamByIssuer: return .steamByIssuer
        case .steamByEncoder: return .steamByEncoder
        case .otherType: return .otherType(try part(bytes))
        case .unknownParameter: return .unknownParameter(try part(bytes))
        case .misnamedParameter:
            guard let alias = KeyURIParameterAlias(try text(bytes)) else { throw Unreadable() }
            return .misnamedParameter(name: alias)
        case .incompleteSecret, .steamParameters, .counterOfLastCode, .shortKey, .digits,
            .longPeriod:
            throw Unreadable()
        }
    }

    private mutating func part(_ bytes: Span<UInt8>) throws(Unreadable) -> KeyURIPart {
        let code: PartCode = try choice(bytes)
        return switch code {
        case .scheme: .scheme
        case .type: .type
        case .label: .label
        case .issuer: .issuer
        case .account: .account
        case .secret: .secret
        case .algorithm: .algorithm
        case .digits: .digits
        case .period: .period
        case .counter: .counter
        case .start: .start
        case .encoder: .encoder
        case .parameter: .parameter(Int(try number(bytes, width: 4)))
        }
    }
}
