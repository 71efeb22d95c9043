internal import Exports
internal import OneTimePassword
internal import WatchwordCryptography

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
