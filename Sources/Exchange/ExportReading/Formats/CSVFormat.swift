internal import Exports
internal import OneTimePassword
internal import WatchwordCryptography

/// Comma-separated values of password managers, and of extract_otp_secrets.
enum CSVFormat {
    /// Whether the text looks like a table: two or more rows with the same number of cells, at
    /// least two, and short names in the first row.
    static func isTable(_ text: Span<UInt8>) -> Bool {
        guard let rows = firstRows(100, of: text), rows.count > 1, let names = rows.first else {
            return false
        }
        return names.count > 1 && names.allSatisfy { (1...32).contains($0.count) }
            && rows.allSatisfy { $0.count == names.count }
    }

    /// Whether the first row names a column with one-time passwords.
    static func isRecognised(_ text: Span<UInt8>) -> Bool {
        firstRows(1, of: text)?.first.flatMap(Header.init) != nil
    }

    /// The first rows, at most `limit`; `nil` if one of them is damaged.
    private static func firstRows(_ limit: Int, of text: Span<UInt8>) -> [[SecretBytes]]? {
        var lines = CSVRows(text)
        var rows: [[SecretBytes]] = []
        do {
            while rows.count < limit, let row = try lines.next(in: text) { rows.append(row) }
            return rows
        } catch {
            return nil
        }
    }

    static func read(_ text: SecretBytes) throws(ExportError) -> ExportRows {
        try text.withBytes { text throws(ExportError) in
            var lines = CSVRows(text)
            guard let header = try lines.next(in: text).flatMap(Header.init) else {
                throw .damaged(.passwordManagerCSV)
            }
            var rows = ExportRows(header.format)
            while let cells = try lines.next(in: text) {
                let row: ExportRow?
                do throws(ExportRowRefusal) {
                    row = try header.row(cells)
                } catch {
                    row = ExportRow(refusal: error)
                }
                if let row { try rows.append(row) }
            }
            return rows
        }
    }
}

/// The meaning of the columns.
private struct Header {
    /// How the columns state the secret.
    private enum Secret {
        /// One column has a complete field: a key URI or a bare secret.
        case field
        /// The columns of extract_otp_secrets, which has `type` and `counter`.
        case base32(type: Int, counter: Int)
        /// The columns of its CSV for KeePass, whose entries all have counters.
        case hotp(counter: Int)
    }

    let format: ExportFormat
    private let secret: Secret
    private let field: Int
    private let title: Int?
    private let users: [Int]
    private let note: Int?
    private let group: Int?
    private let favourite: Int?
    private let archived: Int?
    private let count: Int

    init?(_ cells: [SecretBytes]) {
        var columns: [String: Int] = [:]
        for (index, cell) in cells.enumerated() where cell.count <= 64 {
            guard let name = cell.decodedText()?.trimmed.asciiLowercased else { return nil }
            if columns[name] == nil { columns[name] = index }
        }
        func first(_ names: String...) -> Int? { names.compactMap { columns[$0] }.first }
        if let field = first("login_totp", "otpauth", "totp", "timeotp-secret-base32"),
            let title = first("title", "name")
        {
            secret = .field
            self.field = field
            self.title = title
        } else if let field = first("hmacotp-secret-base32"), let title = first("title"),
            let counter = first("hmacotp-counter")
        {
            secret = .hotp(counter: counter)
            self.field = field
            self.title = title
        } else if let field = first("secret"), let issuer = first("issuer"),
            let type = first("type"), let counter = first("counter"), columns["name"] != nil
        {
            // The URL repeats the other columns.
            secret = .base32(type: type, counter: counter)
            self.field = field
            title = issuer
        } else {
            return nil
        }
        var names = ["login_username", "username", "user name", "email"]
        if case .base32 = secret { names = ["name"] }
        users = names.compactMap { columns[$0] }
        note = first("notes", "note", "extra")
        group = first("folder", "group", "grouping", "vault", "tags")
        favourite = first("favorite", "fav")
        archived = first("archived")
        count = cells.count
        if columns["login_totp"] != nil {
            format = columns["login_username"] == nil ? .bitwardenAuthenticator : .bitwarden
        } else {
            format = columns["group"] == nil ? .passwordManagerCSV : .keePassXCCSV
        }
    }

    /// The row of an item, or `nil` if the item has no one-time password.
    ///
    /// A row with more or fewer cells than columns is refused, because its cells cannot be assigned
    /// to the columns.
    func row(_ cells: [SecretBytes]) throws(ExportRowRefusal) -> ExportRow? {
        var row = ExportRow()
        let field: SecretBytes
        // Bitwarden Authenticator writes issuer, period and digits after the last column, and a
        // comma in an unquoted name shifts all columns.
        if format == .bitwardenAuthenticator,
            let uri = cells.first(where: { $0.withBytes(Self.isURI) })
        {
            field = uri
            row.isLabelHTML = true
        } else {
            guard cells.count == count else { throw .malformed }
            field = cells[self.field]
        }
        guard field.count > 0 else { return nil }
        switch secret {
        case .field: row.secret = .field(field)
        case .base32(let type, let counter):
            row.secret = .base32(field)
            row.kind = ExportRow.Kind(word: try text(type, cells))
            row.counter = ExportRow.Number(try text(counter, cells))
        case .hotp(let counter):
            row.secret = .base32(field)
            row.kind = .hotp
            row.counter = ExportRow.Number(try text(counter, cells))
        }
        // The counters come from Google Authenticator.
        if row.kind == .hotp { row.warnings.append(.counterOfLastCode) }
        if format == .keePassXCCSV { row.placeholders = KeePassAttributes.placeholders }
        row.issuer = try text(title, cells)
        for user in users where row.account.isEmpty { row.account = try text(user, cells) }
        row.note = try text(note, cells)
        row.tags = tags(try text(group, cells))
        row.isFavourite = try isTrue(favourite, cells)
        if try isTrue(archived, cells) { row.state = .archived }
        return row
    }

    /// KeePassXC writes the path from the root group, whose name means nothing; 1Password separates
    /// tags with semicolons.
    private func tags(_ text: String) -> [String] {
        guard format == .keePassXCCSV else {
            return text.split(separator: ";").map { String($0) }
        }
        return [text.split(separator: "/").dropFirst().joined(separator: "/")]
    }

    private func text(
        _ column: Int?, _ cells: [SecretBytes]
    ) throws(ExportRowRefusal) -> String {
        guard let column, cells.indices.contains(column) else { return "" }
        return try cells[column].name()
    }

    private func isTrue(
        _ column: Int?, _ cells: [SecretBytes]
    ) throws(ExportRowRefusal) -> Bool {
        ["1", "true"].contains(try text(column, cells).asciiLowercased)
    }

    private static func isURI(_ cell: Span<UInt8>) -> Bool {
        cell.hasPrefixIgnoringCase("otpauth://") || cell.hasPrefixIgnoringCase("steam://")
    }
}

/// Reads comma-separated values (RFC 4180) row by row.
///
/// Line ends are LF, CRLF or CR; empty rows are left out. A quotation mark in the middle of a cell
/// that does not begin with a quotation mark is read literally.
struct CSVRows {
    /// The maximum number of cells in a row.
    private static let maximumCellCount = 1_000
    private static let damaged = ExportError.damaged(.passwordManagerCSV)

    private var position: Int

    init(_ text: Span<UInt8>) { position = TextLines.byteOrderMarkCount(of: text) }

    /// The next row of `text`, which must be the same at every call; `nil` after the last one.
    ///
    /// - Throws: ``ExportError/damaged(_:)`` if a quoted cell has no end, something other than a
    ///   separator follows it, or a row has too many cells.
    mutating func next(in text: Span<UInt8>) throws(ExportError) -> [SecretBytes]? {
        while position < text.count {
            var cells: [SecretBytes] = []
            var isRowEnd = false
            while !isRowEnd {
                guard cells.count < Self.maximumCellCount else { throw Self.damaged }
                cells.append(try cell(in: text))
                isRowEnd = endCell(in: text)
            }
            if cells.count > 1 || cells.contains(where: { $0.count > 0 }) { return cells }
        }
        return nil
    }

    private mutating func cell(in text: Span<UInt8>) throws(ExportError) -> SecretBytes {
        let start = position
        guard position < text.count, text[position] == UInt8(ascii: "\"") else {
            while position < text.count, !Self.endsCell(text[position]) { position += 1 }
            return SecretBytes(copying: text.extracting(start..<position))
        }
        position += 1
        while true {
            guard position < text.count else { throw Self.damaged }
            guard text[position] == UInt8(ascii: "\"") else {
                position += 1
                continue
            }
            let isDouble = position + 1 < text.count && text[position + 1] == UInt8(ascii: "\"")
            guard isDouble else { break }
            position += 2
        }
        let content = text.extracting((start + 1)..<position)
        position += 1
        guard position == text.count || Self.endsCell(text[position]) else { throw Self.damaged }
        return SecretBytes(capacity: content.count) { output in
            var index = 0
            while index < content.count {
                output.append(content[index])
                index += content[index] == UInt8(ascii: "\"") ? 2 : 1
            }
        }
    }

    /// Skips the separator after a cell.
    ///
    /// - Returns: whether the row ends there.
    private mutating func endCell(in text: Span<UInt8>) -> Bool {
        guard position < text.count else { return true }
        let isComma = text[position] == UInt8(ascii: ",")
        let isPair =
            text[position] == 0x0D && position + 1 < text.count && text[position + 1] == 0x0A
        position += isPair ? 2 : 1
        return !isComma
    }

    private static func endsCell(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == 0x0A || byte == 0x0D
    }
}
