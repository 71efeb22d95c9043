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

    /// Splits the label at its first unencoded colon, or else at its first encoded one.
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
