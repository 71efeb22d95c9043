internal import Exports
internal import OneTimePassword
internal import WatchwordCryptography

/// KeePass' database, and its XML without encryption.
enum KeePassFormat {
    /// Reads the XML that KeePass, KeePassXC and `keepassxc-cli export` write.
    static func read(plain root: XMLElement) throws(ExportError) -> ExportRows {
        try rows(root, protection: nil)
    }

    static func read(
        _ source: ExportSource, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        let document = try open(source, password)
        let root = try reading(.keePass) { () throws(ContainerError) in
            try readXML(document.xml, limits: .current)
        }
        guard root.name == "KeePassFile" else { throw .damaged(.keePass) }
        try checkDigest(root, document)
        return try rows(root, protection: document.protection)
    }

    private static func rows(
        _ root: XMLElement, protection: KDBXProtection?
    ) throws(ExportError) -> ExportRows {
        var reader = KeePassReader(protection, recycleBin: recycleBin(of: root))
        try reader.read(root)
        return reader.rows
    }

    /// Opens the database: before a password is asked for, with the key file alone; then with both,
    /// and with the password alone, because the key file may belong to another database.
    private static func open(
        _ source: ExportSource, _ password: SecretBytes?
    ) throws(ExportError) -> KDBXContainer.Document {
        guard password != nil || source.keyFile != nil else { throw .passwordNeeded(.keePass) }
        do {
            return try KDBXContainer.open(
                source.file, password: password, keyFile: source.keyFile)
        } catch {
            let isKeyWrong =
                [.wrongPassword(.keePass), .unreadable(.keePass, .badKeyFile)].contains(error)
            guard isKeyWrong, source.keyFile != nil else { throw error }
            guard let password else { throw .passwordNeeded(.keePass) }
            // If this fails too, the damaged key file may be the reason.
            guard
                let document = try ifKeyIsRight(
                    KDBXContainer.open(source.file, password: password, keyFile: nil))
            else { throw error }
            return document
        }
    }

    /// Version 3 states the header's digest in the document, and nothing else authenticates it.
    private static func checkDigest(
        _ root: XMLElement, _ document: KDBXContainer.Document
    ) throws(ExportError) {
        guard let stated = root["Meta"]?["HeaderHash"]?.text, stated.count > 0 else { return }
        guard let digest = stated.decodedBase64(), digest == document.headerDigest else {
            throw .damaged(.keePass)
        }
    }

    /// The recycle bin's identifier; `nil` if there is none.
    private static func recycleBin(of root: XMLElement) -> SecretBytes? {
        guard let meta = root["Meta"], let identifier = meta["RecycleBinUUID"]?.text,
            meta["RecycleBinEnabled"]?.string.asciiLowercased == "true",
            let bytes = identifier.decodedBase64()
        else { return nil }
        let isZero = bytes.withBytes { bytes in bytes.indices.allSatisfy { bytes[$0] == 0 } }
        return isZero ? nil : identifier
    }
}

/// Reads the document in its own order, which is that of the keystream.
private struct KeePassReader {
    private(set) var rows = ExportRows(.keePass)
    /// The keystream of a database; `nil` for XML without encryption.
    private let protection: KDBXProtection?
    private let recycleBin: SecretBytes?

    init(_ protection: KDBXProtection?, recycleBin: SecretBytes?) {
        self.protection = protection
        self.recycleBin = recycleBin
    }

    /// Where a group is.
    private struct Place {
        /// The names of the groups from below the root group.
        var path: [String] = []
        var state = ExportedEntry.State.active
        var isRoot = true
    }

    mutating func read(_ file: XMLElement) throws(ExportError) {
        for child in file.children {
            guard child.name == "Root" else {
                try skip(child)
                continue
            }
            for child in child.children {
                if child.name == "Group" {
                    try read(group: child, Place())
                } else {
                    try skip(child)
                }
            }
        }
    }

    private mutating func read(group: XMLElement, _ parent: Place) throws(ExportError) {
        var place = parent
        place.isRoot = false
        if let recycleBin, let identifier = group["UUID"]?.text, identifier == recycleBin {
            place.state = .deleted
            place.path = []
        } else if !parent.isRoot, let name = group["Name"]?.string {
            place.path.append(name)
        }
        for child in group.children {
            switch child.name {
            case "Group": try read(group: child, place)
            case "Entry": try read(entry: child, place)
            default: try skip(child)
            }
        }
    }

    private mutating func read(entry: XMLElement, _ place: Place) throws(ExportError) {
        var attributes: [String: SecretBytes] = [:]
        for child in entry.children {
            guard child.name == "String" else {
                // Earlier versions of the entry do not become rows, but their values are part of
                // the keystream.
                try skip(child)
                continue
            }
            let name = child["Key"]?.string ?? ""
            for part in child.children {
                let value = try value(of: part)
                if part.name == "Value", attributes[name] == nil { attributes[name] = value }
            }
        }
        let strings = KeePassAttributes(attributes)
        var template = ExportRow()
        template.issuer = strings.text("Title")
        template.account = strings.text("UserName")
        template.note = strings.text("Notes")
        template.state = place.state
        template.tags = [place.path.joined(separator: "/")] + tags(of: entry)
        for row in strings.rows(template) { try rows.append(row) }
    }

    private func tags(of entry: XMLElement) -> [String] {
        // KeePass separates tags with semicolons, and old versions of KeePassXC with commas.
        (entry["Tags"]?.string ?? "").split { $0 == ";" || $0 == "," }.map(String.init)
    }

    /// The text of an element, decrypted if it is protected.
    private func value(of element: XMLElement) throws(ExportError) -> SecretBytes {
        var text = element.text
        if element.attributeString("Protected")?.asciiLowercased == "true" {
            // XML without encryption has `ProtectInMemory` instead. The keystream's key is missing.
            guard let protection else { throw .damaged(.keePass) }
            text = try protection.next(text)
        }
        for child in element.children { try skip(child) }
        return text
    }

    /// Decrypts the protected value of an element that is not used, to advance the keystream.
    private func skip(_ element: XMLElement) throws(ExportError) {
        _ = try value(of: element)
    }
}

/// The strings of a KeePass entry, in which many programs store one-time passwords, each in a
/// different way.
struct KeePassAttributes {
    /// What KeePassXC writes into a key URI for an empty title or user name.
    static let placeholders = ["KeePassXC", "none"]

    private let values: [String: SecretBytes]

    init(_ values: [String: SecretBytes]) { self.values = values }

    /// The rows of the first way that the entry uses; none if it has no one-time password.
    ///
    /// KeePassXC numbers further fields of an item that it imported: `otp_1` and so on.
    func rows(_ template: ExportRow) -> [ExportRow] {
        if let row = keeTrayTOTP(template) { return [row] }
        var rows: [ExportRow] = []
        for name in ["otp"] + (1...99).map({ "otp_\($0)" }) {
            guard let value = values[name], value.count > 0 else { continue }
            rows.append(keePassXC(template, value))
        }
        if !rows.isEmpty { return rows }
        return [keePass(template, "TimeOtp", .totp) ?? keePass(template, "HmacOtp", .hotp)]
            .compactMap { $0 }
    }

    /// `TOTP Seed` and `TOTP Settings`, such as "30;6", or "30;S" for Steam.
    private func keeTrayTOTP(_ template: ExportRow) -> ExportRow? {
        guard let seed = values["TOTP Seed"], seed.count > 0 else { return nil }
        var row = template
        row.secret = .base32(seed)
        let settings = text("TOTP Settings").split(separator: ";", omittingEmptySubsequences: false)
        if let period = settings.first { row.period = ExportRow.Number(String(period)) }
        if settings.count > 1 {
            if settings[1] == "S" {
                row.kind = .steam
            } else {
                row.digits = ExportRow.Number(String(settings[1]))
            }
        }
        return row
    }

    /// A key URI, or a query such as `key=…&step=30&size=6&otpHashMode=Sha256`.
    private func keePassXC(_ template: ExportRow, _ value: SecretBytes) -> ExportRow {
        let query = SecretBytes(joining: [SecretBytes([UInt8(ascii: "?")]), value])
        let parts = query.withBytes { KeyURIParts($0) }
        func parameter(_ name: String) -> SecretBytes? {
            parts.first(name).map { range in
                query.withBytes { KeyURIParts.decoded($0.extracting(range)) }
            }
        }
        guard let key = parameter("key") else {
            var row = template
            row.secret = .field(value)
            row.placeholders = Self.placeholders
            return row
        }
        func text(_ name: String) -> String { Self.text(parameter(name)) }
        var row = template
        row.secret = .base32(key)
        row.algorithm = text("otphashmode")
        row.digits = ExportRow.Number(text("size"))
        row.period = ExportRow.Number(text("step"))
        row.counter = ExportRow.Number(text("counter"))
        let type = text("type")
        row.kind = type.isEmpty ? .totp : ExportRow.Kind(word: type)
        return row
    }

    /// KeePass' own strings, such as `TimeOtp-Secret-Base32`.
    private func keePass(
        _ template: ExportRow, _ prefix: String, _ kind: ExportRow.Kind
    ) -> ExportRow? {
        var row = template
        row.kind = kind
        func secret(_ suffix: String) -> SecretBytes? {
            values["\(prefix)-Secret\(suffix)"].flatMap { $0.count > 0 ? $0 : nil }
        }
        if let bytes = secret("") {
            row.secret = .bytes(bytes)
        } else if let digits = secret("-Hex") {
            row.secret = .hex(digits)
        } else if let text = secret("-Base32") {
            row.secret = .base32(text)
        } else if let text = secret("-Base64") {
            row.secret = text.decodedBase64().map { .bytes($0) } ?? .none
            if case .none = row.secret { row.refusal = .badSecret }
        } else {
            return nil
        }
        if kind == .hotp {
            row.counter = ExportRow.Number(text("HmacOtp-Counter"))
        } else {
            row.digits = ExportRow.Number(text("TimeOtp-Length"))
            row.period = ExportRow.Number(text("TimeOtp-Period"))
            row.algorithm = text("TimeOtp-Algorithm")
        }
        return row
    }

    /// The text of a string that is not secret; empty if there is none, or if it is not UTF-8.
    func text(_ name: String) -> String { Self.text(values[name]) }

    private static func text(_ value: SecretBytes?) -> String {
        guard let value else { return "" }
        return value.decodedText() ?? ""
    }
}
