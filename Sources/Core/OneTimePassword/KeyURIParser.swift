internal import WatchwordCryptography

/// Reads one key URI and collects the deviations that it accepted.
///
/// The text is lent to each step, so that no copy of it outlives the parser.
struct KeyURIParser {
    /// The type, which precedes the label.
    enum URIType {
        case totp, hotp, steam
    }

    /// The label's parts; the issuer is `nil` if there is none.
    struct Label {
        let issuer: String?
        let account: String
    }

    var warnings: [KeyURIWarning] = []

    mutating func parse(_ whole: Span<UInt8>) throws(OneTimePasswordError) -> Credential {
        guard whole.count <= KeyURI.maximumCount else { throw .tooLong }
        let inner = whole.rangeWithoutSpaces
        if inner.count < whole.count { warnings.append(.spacesAroundURI) }
        let text = whole.extracting(inner)
        guard let scheme = KeyURIScheme(of: text) else { throw .notAKeyURI }
        if scheme == .appleOTPAuth { warnings.append(.appleScheme) }

        let question = text.firstIndex(of: UInt8(ascii: "?"), in: scheme.count..<text.count)
        let pathEnd = question ?? text.count
        let slash = text.firstIndex(of: UInt8(ascii: "/"), in: scheme.count..<pathEnd)
        let type = try type(text.extracting(scheme.count..<(slash ?? pathEnd)))
        let label = label(text.extracting((slash.map { $0 + 1 } ?? pathEnd)..<pathEnd))

        var query = KeyURIQuery(isHOTP: type == .hotp)
        var start = question.map { $0 + 1 } ?? text.count
        while start < text.count {
            let end = text.firstIndex(of: UInt8(ascii: "&"), in: start..<text.count) ?? text.count
            try query.take(start..<end, of: text, for: &self)
            if end == text.count - 1 { warnings.append(.emptyParameter) }
            start = end + 1
        }
        return try credential(type, label, query, text)
    }

    private func type(_ text: Span<UInt8>) throws(OneTimePasswordError) -> URIType {
        if text.equalsIgnoringCase("totp") { return .totp }
        if text.equalsIgnoringCase("hotp") { return .hotp }
        if text.equalsIgnoringCase("steam") { return .steam }
        throw .unknownType
    }

    /// Splits the label at its first unencoded colon, or else at its first encoded colon.
    ///
    /// The format allows either between issuer and account, followed by encoded spaces.
    private mutating func label(_ text: Span<UInt8>) -> Label {
        guard text.count > 0 else {
            warnings.append(.emptyLabel)
            return Label(issuer: nil, account: "")
        }
        let bare = text.firstIndex(of: UInt8(ascii: ":"), in: 0..<text.count)
        guard let colon = bare ?? text.firstEncoded(UInt8(ascii: ":"), from: 0) else {
            return Label(issuer: nil, account: name(text, .account))
        }
        let accountStart = colon + (bare == nil ? 3 : 1)
        let issuer = name(text.extracting(..<colon), .issuer)
        if bare != nil, text.firstIndex(of: UInt8(ascii: ":"), in: accountStart..<text.count) != nil
        {
            warnings.append(.severalColons)
        }
        // An account that contains a colon and has no issuer is written with an empty issuer.
        if issuer.isEmpty, text.firstEncoded(UInt8(ascii: ":"), from: accountStart) == nil {
            warnings.append(.emptyIssuer)
        }
        var nameStart = accountStart
        while text.hasEncoded(UInt8(ascii: " "), at: nameStart) { nameStart += 3 }
        let account = name(text.extracting(nameStart...), .account)
        return Label(issuer: issuer.isEmpty ? nil : issuer, account: account)
    }

    private mutating func credential(
        _ type: URIType, _ label: Label, _ query: KeyURIQuery, _ text: Span<UInt8>
    ) throws(OneTimePasswordError) -> Credential {
        guard let keyRange = query.values[.secret] else { throw .emptyKey }
        let key = try key(text.extracting(keyRange))
        let issuer = issuer(query.values[.issuer], label, text)
        let algorithm = try algorithm(query, text)
        let style = try style(type, issuer, query, text)
        let movingFactor = try movingFactor(type, query, text)
        return try Credential(
            issuer: issuer, account: label.account, key: key, algorithm: algorithm, style: style,
            movingFactor: movingFactor, otherParameters: query.others)
    }
}

extension KeyURIParser {
    /// A name or a value that is not secret, as text.
    mutating func text(
        _ encoded: Span<UInt8>, _ part: KeyURIPart, plus: PercentDecoder.Plus
    ) -> String {
        var decoder = PercentDecoder(plus: plus)
        let bytes = [UInt8](capacity: encoded.count) { decoder.decode(encoded, into: &$0) }
        warnings += decoder.warnings(for: part)
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        warnings.append(.readAsLatin1(part))
        var text = ""
        for byte in bytes { text.unicodeScalars.append(Unicode.Scalar(byte)) }
        return text
    }

    /// An issuer or an account, without surrounding spaces.
    mutating func name(
        _ encoded: Span<UInt8>, _ part: KeyURIPart, plus: PercentDecoder.Plus = .itself
    ) -> String {
        let whole = text(encoded, part, plus: plus)
        guard whole.hasSpaceAround else { return whole }
        warnings.append(.spacesAround(part))
        return whole.trimmed
    }

    /// The key, which is decoded entirely in locked memory.
    mutating func key(_ encoded: Span<UInt8>) throws(OneTimePasswordError) -> SecretBytes {
        var decoder = PercentDecoder(plus: .space)
        let text = SecretBytes(capacity: encoded.count) { decoder.decode(encoded, into: &$0) }
        warnings += decoder.warnings(for: .secret)
        let (key, tolerances) = try text.withBytes { text throws(OneTimePasswordError) in
            try Base32.decodeTolerantly(text)
        }
        warnings += tolerances.map(KeyURIWarning.key)
        guard key.count > 0 else { throw .emptyKey }
        return key
    }
}

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
        let digits: UInt64? = try number(.digits, query, text)
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
            if let counter: UInt64 = try number(.counter, query, text) { return .counter(counter) }
            warnings.append(.missingCounter)
            return .counter(0)
        }
        let period: UInt64 = try number(.period, query, text) ?? 30
        let start: Int64 = try number(.start, query, text) ?? 0
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

    private mutating func number<Number: FixedWidthInteger>(
        _ parameter: KeyURIParameter, _ query: KeyURIQuery, _ text: Span<UInt8>
    ) throws(OneTimePasswordError) -> Number? {
        guard let written = value(parameter, query, text) else { return nil }
        try checkDigits(written, parameter.part)
        guard let number = Number(written) else { throw .outOfRange(parameter.part) }
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
