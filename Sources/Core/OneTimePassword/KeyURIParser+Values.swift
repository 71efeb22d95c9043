internal import WatchwordCryptography

extension KeyURIParser {
    /// The issuer: the parameter's, or else the label's.
    mutating func issuer(_ value: Range<Int>?, _ label: Label, _ text: Span<UInt8>) -> String {
        guard let value else { return label.issuer ?? "" }
        let written = text.extracting(value)
        var literal = KeyURIParser()
        let withPlus = literal.name(written, .issuer)
        if let issuer = label.issuer, issuer == withPlus, issuer.utf8.contains(UInt8(ascii: "+")) {
            // A plus sign can mean itself or, as in forms, a space. In the label it is unambiguous.
            warnings += literal.warnings
            if written.firstIndex(of: UInt8(ascii: "+"), in: 0..<written.count) != nil {
                warnings.append(.plusKept(.issuer))
            }
            return issuer
        }
        let issuer = name(written, .issuer, plus: .space)
        guard !issuer.isEmpty else {
            warnings.append(.emptyIssuer)
            return label.issuer ?? ""
        }
        if let other = label.issuer, other != issuer { warnings.append(.issuersDiffer) }
        return issuer
    }

    /// The hash function; SHA-1 if the parameter is absent.
    mutating func algorithm(
        _ query: KeyURIQuery, _ text: Span<UInt8>
    ) throws(OneTimePasswordError) -> HashAlgorithm {
        guard let written = value(.algorithm, query, text) else { return .sha1 }
        if let algorithm = HashAlgorithm(rawValue: written) { return algorithm }
        guard let algorithm = HashAlgorithm(spelling: written) else { throw .unknownAlgorithm }
        warnings.append(.algorithmSpelling)
        return algorithm
    }

    /// The code style, determined by the type, then by the encoder, then by the issuer.
    mutating func style(
        _ type: URIType, _ issuer: String, _ query: KeyURIQuery, _ text: Span<UInt8>
    ) throws(OneTimePasswordError) -> CodeStyle {
        let digits = try number(.digits, query, text)
        let isSteam: Bool
        switch value(.encoder, query, text)?.asciiLowercased {
        case "steam":
            if type == .totp { warnings.append(.steamByEncoder) }
            isSteam = true
        case "decimal":
            guard type != .steam else { throw .unknownEncoder }
            isSteam = false
        case nil where type == .steam:
            isSteam = true
        case nil:
            // A URI for codes of five decimal digits from an issuer called Steam would specify its
            // encoder.
            isSteam =
                type == .totp && issuer.asciiLowercased == "steam"
                && (digits ?? UInt64(CodeStyle.steamLength)) == CodeStyle.steamLength
            if isSteam { warnings.append(.steamByIssuer) }
        default:
            throw .unknownEncoder
        }
        if isSteam {
            guard digits ?? UInt64(CodeStyle.steamLength) == CodeStyle.steamLength else {
                throw .outOfRange(.digits)
            }
            return .steam
        }
        guard let digits else { return .decimal(.six) }
        guard let length = CodeLength(digits: Int(clamping: digits)) else {
            throw .outOfRange(.digits)
        }
        return .decimal(length)
    }

    /// The time step or the counter.
    mutating func movingFactor(
        _ type: URIType, _ query: KeyURIQuery, _ text: Span<UInt8>
    ) throws(OneTimePasswordError) -> MovingFactor {
        guard type != .hotp else {
            if let counter = try number(.counter, query, text) { return .counter(counter) }
            warnings.append(.missingCounter)
            return .counter(0)
        }
        let period = try number(.period, query, text) ?? 30
        let start = try signedNumber(.start, query, text) ?? 0
        guard let seconds = Int64(exactly: period),
            let step = TimeStep(period: seconds, start: start)
        else { throw .outOfRange(.period) }
        return .time(step)
    }

    /// A parameter's value as text, without surrounding spaces.
    private mutating func value(
        _ parameter: KeyURIParameter, _ query: KeyURIQuery, _ text: Span<UInt8>
    ) -> String? {
        query.values[parameter].map { name(text.extracting($0), parameter.part, plus: .space) }
    }

    private mutating func number(
        _ parameter: KeyURIParameter, _ query: KeyURIQuery, _ text: Span<UInt8>
    ) throws(OneTimePasswordError) -> UInt64? {
        guard let written = value(parameter, query, text) else { return nil }
        try checkDigits(written, parameter.part)
        guard let number = UInt64(written) else { throw .outOfRange(parameter.part) }
        return number
    }

    private mutating func signedNumber(
        _ parameter: KeyURIParameter, _ query: KeyURIQuery, _ text: Span<UInt8>
    ) throws(OneTimePasswordError) -> Int64? {
        guard let written = value(parameter, query, text) else { return nil }
        try checkDigits(written, parameter.part)
        guard let number = Int64(written) else { throw .outOfRange(parameter.part) }
        return number
    }

    /// Checks for decimal digits after an optional minus: a negative number is still a number, but
    /// out of range.
    private func checkDigits(_ text: String, _ part: KeyURIPart) throws(OneTimePasswordError) {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        let isNumber = digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isNumber, !digits.isEmpty else { throw .notANumber(part) }
    }
}
