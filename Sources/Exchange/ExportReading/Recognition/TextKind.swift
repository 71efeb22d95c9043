internal import Exports
internal import OneTimePassword
internal import WatchwordCryptography

/// Formats of text in lines.
enum TextKind {
    case uriList, csv, oathUsers, googlePAM, gauth, passwordStoreItem, base64

    init?(_ text: Span<UInt8>) {
        let uris = URILines(text)
        if uris.isFirst {
            self = .uriList
        } else if CSVFormat.isRecognised(text) {
            self = .csv
        } else if OATHUsersFormat.isRecognised(text) {
            self = .oathUsers
        } else if GooglePAMFormat.isRecognised(text) {
            self = .googlePAM
        } else if GauthFormat.isRecognised(text) {
            self = .gauth
        } else if uris.lineCount > 0 {
            // An item has one key URI; a list may have headings.
            self = uris.isOneKeyURI ? .passwordStoreItem : .uriList
        } else if Self.isBase64(text) {
            self = .base64
        } else {
            return nil
        }
    }

    func read(
        _ text: SecretBytes, _ source: ExportSource, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        switch self {
        case .uriList: return try URIListFormat.read(text)
        case .csv: return try CSVFormat.read(text)
        case .oathUsers: return try OATHUsersFormat.read(text)
        case .googlePAM: return try GooglePAMFormat.read(text)
        case .gauth: return try GauthFormat.read(text)
        case .passwordStoreItem: return try URIListFormat.readItem(text)
        case .base64:
            if let manifest = source.manifest,
                let rows = try SteamFormat.read(
                    encrypted: text, name: source.name, manifest, password: password)
            {
                return rows
            }
            let plain = try TOTPAuthenticatorContainer.open(text, password: password)
            return try TOTPAuthenticatorJSON.read(try readExportJSON(plain, .totpAuthenticator))
        }
    }

    /// Whether the text is one Base64 text of whole cipher blocks.
    private static func isBase64(_ text: Span<UInt8>) -> Bool {
        let inner = text.extracting(text.rangeWithoutSpaces)
        guard let bytes = SecretBytes(copying: inner).decodedBase64() else { return false }
        return bytes.count > 0 && bytes.count.isMultiple(of: 16)
    }
}

/// The URIs of one-time passwords in a text of lines.
private struct URILines {
    private static let schemes = [
        "otpauth:", "otpauth-migration:", "apple-otpauth:", "motp:", "steam:",
    ]

    /// Whether the first line that is not a comment is a URI.
    private(set) var isFirst = false
    /// The number of lines that begin with a URI.
    private(set) var lineCount = 0
    private var keyURICount = 0
    /// The number of lines that are not key URIs and contain a URI anywhere.
    private var otherCount = 0

    /// Whether there is exactly one key URI and no other URI.
    var isOneKeyURI: Bool { keyURICount == 1 && otherCount == 0 }

    init(_ text: Span<UInt8>) {
        var lines = TextLines(text)
        var isAtStart = true
        while let line = lines.next(in: text) {
            let content = text.extracting(line.range)
            if content[0] == UInt8(ascii: "#") { continue }
            if isAtStart { isFirst = Self.schemes.contains { content.hasPrefixIgnoringCase($0) } }
            isAtStart = false
            // `steam: name` is a line of a password manager's item.
            let uris = Self.schemes.map { "\($0)//" }
            if uris.contains(where: { content.hasPrefixIgnoringCase($0) }) { lineCount += 1 }
            if content.hasPrefixIgnoringCase("otpauth://") {
                keyURICount += 1
            } else if content.hasPrefixIgnoringCase("otpauth:")
                || uris.contains(where: { content.contains($0) })
            {
                otherCount += 1
            }
        }
    }
}

extension Span<UInt8> {
    /// Whether `word`, which is lower-case ASCII, occurs in any case.
    fileprivate func contains(_ word: String) -> Bool { firstRange(of: word) != nil }
}

/// Exports that begin with `<`: Android preferences, PSKC, KeePass' XML, Stratum's HTML, and
/// Watchword's sheet.
enum MarkupReading {
    static func read(_ text: SecretBytes, password: SecretBytes?) throws(ExportError) -> ExportRows
    {
        if text.withBytes({ $0.firstRange(of: KeyURIPage.sheetMark) != nil }) {
            return try KeyURIPage.read(text, .watchwordSheet)
        }
        if text.withBytes({ $0.firstRange(of: "<code>otpauth") != nil }) {
            return try KeyURIPage.read(text, .stratum)
        }
        let root = try reading(format(ofUnreadable: text)) { () throws(ContainerError) in
            try readXML(text, limits: .current)
        }
        switch root.name {
        case "map": return try AndroidPreferences(root).read(password: password)
        case "KeyContainer": return try PSKCFormat.read(root, password: password)
        case "KeePassFile": return try KeePassFormat.read(plain: root)
        default: throw .unknownFormat
        }
    }

    /// The likely format of a text that is not well-formed XML.
    private static func format(ofUnreadable text: SecretBytes) -> ExportFormat? {
        text.firstFormat(of: [
            ("keycontainer", .pskc), ("<keepassfile", .keePass), ("com.authy.storage", .authy),
            ("com.blizzard.messenger", .battleNet),
            ("static_totp_codes_list", .totpAuthenticator), ("tokenorder", .freeOTP),
        ])
    }
}

extension XMLLimits {
    static var current: XMLLimits {
        let limits = ExportLimits.current
        return XMLLimits(bytes: limits.bytes, elements: limits.values / 2)
    }
}

/// Pages whose `<code>` elements contain key URIs: Stratum's HTML backup, and the
/// sheets that Watchword writes for printing.
enum KeyURIPage {
    /// The element that identifies a sheet; it comes before the first entry.
    static let sheetMark = "<meta name=\"generator\" content=\"watchword\">"

    static func read(_ text: SecretBytes, _ format: ExportFormat) throws(ExportError) -> ExportRows
    {
        var rows = ExportRows(format)
        try text.withBytes { text throws(ExportError) in
            var rest = text.extracting(0...)
            while let start = rest.firstRange(of: "<code>") {
                rest = rest.extracting(start.upperBound...)
                guard let end = rest.firstRange(of: "</code>") else { throw .damaged(format) }
                var row = ExportRow()
                row.secret = .field(SecretBytes(unescaping: rest.extracting(..<end.lowerBound)))
                try rows.append(row)
                rest = rest.extracting(end.upperBound...)
            }
        }
        return rows
    }
}
