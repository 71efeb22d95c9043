internal import Cryptography
internal import Interchange
internal import OneTimePassword

/// Formats of text in lines (formats.md, section 2).
enum TextKind {
    case uriList, csv, oathUsers, googlePAM, gauth, passwordStoreItem, base64

    init?(_ text: Span<UInt8>) {
        if Self.isURIList(text) {
            self = .uriList
        } else if CSVFormat.isRecognised(text) {
            self = .csv
        } else if OATHUsersFormat.isRecognised(text) {
            self = .oathUsers
        } else if GooglePAMFormat.isRecognised(text) {
            self = .googlePAM
        } else if GauthFormat.isRecognised(text) {
            self = .gauth
        } else if Self.hasKeyURI(text) {
            self = .passwordStoreItem
        } else if Self.isBase64(text) {
            self = .base64
        } else {
            return nil
        }
    }

    func read(_ text: SecretBytes, password: SecretBytes?) throws(ExportError) -> ExportRows {
        switch self {
        case .uriList: return try URIListFormat.read(text)
        case .csv: return try CSVFormat.read(text)
        case .oathUsers: return try OATHUsersFormat.read(text)
        case .googlePAM: return try GooglePAMFormat.read(text)
        case .gauth: return try GauthFormat.read(text)
        case .passwordStoreItem: return try URIListFormat.readItem(text)
        case .base64:
            let plain = try TOTPAuthenticatorContainer.open(text, password: password)
            return try TOTPAuthenticatorJSON.read(try readExportJSON(plain, .totpAuthenticator))
        }
    }

    /// Whether the first line that is not a comment is a URI.
    private static func isURIList(_ text: Span<UInt8>) -> Bool {
        var lines = TextLines(text)
        while let line = lines.next(in: text) {
            let content = text.extracting(line.range)
            if content[0] == UInt8(ascii: "#") { continue }
            return ["otpauth:", "otpauth-migration:", "apple-otpauth:", "motp:", "steam:"]
                .contains { content.hasPrefixIgnoringCase($0) }
        }
        return false
    }

    /// Whether a line is a key URI.
    private static func hasKeyURI(_ text: Span<UInt8>) -> Bool {
        var lines = TextLines(text)
        while let line = lines.next(in: text) {
            if text.extracting(line.range).hasPrefixIgnoringCase("otpauth://") { return true }
        }
        return false
    }

    /// Whether the text is one Base64 text of whole cipher blocks.
    private static func isBase64(_ text: Span<UInt8>) -> Bool {
        let inner = text.extracting(text.rangeWithoutSpaces)
        guard let bytes = SecretBytes(copying: inner).decodedBase64() else { return false }
        return bytes.count > 0 && bytes.count.isMultiple(of: 16)
    }
}
