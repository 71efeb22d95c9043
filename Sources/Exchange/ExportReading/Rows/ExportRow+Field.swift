internal import Exports
internal import OneTimePassword
internal import WatchwordCryptography

/// One-time password fields of password managers: a key URI in any dialect, `steam://SECRET`,
/// `motp://…`, or a bare Base32 secret.
extension ExportRow {
    /// The entry that a field and the row's other values describe.
    func entry(ofField field: SecretBytes) throws(ExportRowRefusal) -> ExportedEntry {
        let text = field.withBytes { field.part($0.rangeWithoutSpaces) }
        guard text.count > 0 else { throw .noSecret }
        // Ente's notes make key URIs longer than others.
        guard text.count <= Self.maximumTextCount else { throw .tooLong }
        switch text.withBytes(Scheme.init) {
        case .otpauth: return try entry(ofKeyURI: text)
        case .motp: return try entry(ofMOTPURI: text)
        case .steam:
            var row = self
            row.kind = .steam
            // The scheme names the issuer.
            if !prefersOwnNames || issuer.isEmpty {
                (row.issuer, row.account) = keepingTitle("Steam", account)
            }
            row.secret = .base32(text.part("steam://".utf8.count..<text.count))
            return try row.entry()
        case .other: throw .badKeyURI
        case .none:
            var row = self
            row.secret = .base32(text)
            return try row.entry()
        }
    }

    private enum Scheme {
        case otpauth, steam, motp
        case other
        /// The field is not a URI.
        case none

        init(_ text: Span<UInt8>) {
            if KeyURI.isKeyURI(text) {
                self = .otpauth
            } else if text.hasPrefixIgnoringCase("steam://") {
                self = .steam
            } else if text.hasPrefixIgnoringCase("motp://") {
                self = .motp
            } else {
                let hasColon = text.firstIndex(of: UInt8(ascii: ":"), in: 0..<text.count) != nil
                self = hasColon ? .other : .none
            }
        }
    }

    private func entry(ofKeyURI text: SecretBytes) throws(ExportRowRefusal) -> ExportedEntry {
        let dialect = text.withBytes { KeyURIDialect($0) }
        let uri = try Self.keyURI(dialect.uri, isDeleted: dialect.state == .deleted)
        var row = self
        row.tags += dialect.tags
        if row.note.isEmpty { row.note = dialect.note }
        if row.icon.isEmpty { row.icon = dialect.icon }
        row.isFavourite = row.isFavourite || dialect.isFavourite
        if row.state == .active { row.state = dialect.state }
        let credential = uri.credential
        try Self.check(credential.key)
        (row.issuer, row.account) = merged(credential)
        var warnings = warnings + dialect.warnings
        for warning in uri.warnings {
            warnings.append(
                warning == .key(.strayCharacter) ? .incompleteSecret : .keyURI(warning))
        }
        if dialect.isYandex {
            row.pin = dialect.pin ?? row.pin
            let code = try row.uncomputed(.yandex, credential.key)
            return try row.entry(.notComputed(code), warnings)
        }
        return try row.entry(.oneTimePassword(try row.named(credential)), warnings)
    }

    private static func keyURI(
        _ text: SecretBytes, isDeleted: Bool = false
    ) throws(ExportRowRefusal) -> KeyURI {
        do {
            return try text.withBytes { text throws(OneTimePasswordError) in
                try KeyURI(parsing: text)
            }
        } catch {
            throw isDeleted ? .unreadableDeleted : ExportRowRefusal(error)
        }
    }

    /// The URI's names, completed by the row's or replaced by them.
    private func merged(_ credential: Credential) -> (issuer: String, account: String) {
        func choose(_ uri: String, _ own: String) -> String {
            let own = own.trimmed
            let uri = placeholders.contains(uri) ? "" : isLabelHTML ? uri.htmlUnescaped : uri
            if prefersOwnNames { return own.isEmpty ? uri : own }
            return uri.isEmpty ? own : uri
        }
        return keepingTitle(choose(credential.issuer, issuer), choose(credential.account, account))
    }

    /// Uses the item's title as the account if the item has no account and a different issuer
    /// replaces the title.
    ///
    /// Only the titles distinguish items without user names.
    private func keepingTitle(
        _ issuer: String, _ account: String
    ) -> (issuer: String, account: String) {
        let title = self.issuer.trimmed
        let isLost =
            account.trimmed.isEmpty && title.asciiLowercased != issuer.trimmed.asciiLowercased
        return (issuer, isLost ? title : account)
    }

    /// The credential with the row's names.
    private func named(_ credential: Credential) throws(ExportRowRefusal) -> Credential {
        try refusing(as: .tooLong) {
            try Credential(
                issuer: issuer.trimmed, account: account.trimmed, key: credential.key,
                algorithm: credential.algorithm, style: credential.style,
                movingFactor: credential.movingFactor,
                otherParameters: credential.otherParameters)
        }
    }

    /// `motp://ISSUER:ACCOUNT?secret=HEX`.
    ///
    /// It is like a key URI except for the secret, so its names are read from a key URI with a
    /// different secret.
    private func entry(ofMOTPURI text: SecretBytes) throws(ExportRowRefusal) -> ExportedEntry {
        let parts = text.withBytes { KeyURIParts($0) }
        guard let secret = parts.first("secret") else { throw .noSecret }
        let label = text.part("motp://".utf8.count..<parts.headEnd)
        let start = "otpauth://totp/"
        let substitute = "?secret=AAAAAAAA"
        let uri = SecretBytes(
            capacity: label.count + start.utf8.count + substitute.utf8.count
        ) { output in
            for byte in start.utf8 { output.append(byte) }
            label.withBytes { output.append(copying: $0) }
            for byte in substitute.utf8 { output.append(byte) }
        }
        let credential = try Self.keyURI(uri).credential
        var row = self
        (row.issuer, row.account) = merged(credential)
        row.kind = .motp
        row.secret = .text(text.withBytes { KeyURIParts.decoded($0.extracting(secret)) })
        if let pin = parts.first("pin") {
            row.pin = text.withBytes { KeyURIParts.decoded($0.extracting(pin)) }
        }
        return try row.entry()
    }
}

extension ExportRowRefusal {
    fileprivate init(_ error: OneTimePasswordError) {
        self =
            switch error {
            case .emptyKey: .noSecret
            case .notBase32: .badSecret
            case .unknownAlgorithm: .unknownAlgorithm
            case .unknownType: .unknownType
            case .tooLong: .tooLong
            case .notANumber(.digits), .outOfRange(.digits): .badDigits
            case .notANumber(.period), .outOfRange(.period): .badPeriod
            case .notANumber(.counter), .outOfRange(.counter): .badCounter
            case .notHexadecimal, .oddDigitCount, .notStrict, .spaceAround, .parameter, .notAKeyURI,
                .doubled, .unknownEncoder, .notANumber, .outOfRange, .otherMovingFactor,
                .beforeStart:
                .badKeyURI
            }
    }
}

extension String {
    /// The text with HTML's entities for ASCII characters decoded.
    fileprivate var htmlUnescaped: String {
        SecretBytes(unescaping: Array(utf8).span).decodedText() ?? self
    }
}
