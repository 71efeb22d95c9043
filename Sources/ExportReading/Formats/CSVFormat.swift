internal import Cryptography
internal import Interchange
internal import OneTimePassword

/// Comma-separated values of password managers (formats.md 4.24).
enum CSVFormat {
    /// Whether the first row names a column with one-time passwords.
    static func isRecognised(_ text: Span<UInt8>) -> Bool {
        var rows = CSVRows(text)
        do { return try rows.next(in: text).flatMap(Header.init) != nil } catch { return false }
    }

    static func read(_ text: SecretBytes) throws(ExportError) -> ExportRows {
        do {
            return try text.withBytes { text throws(CSVReadingError) in try rows(text) }
        } catch {
            switch error {
            case .csv: throw .damaged(.passwordManagerCSV)
            case .export(let error): throw error
            }
        }
    }

    private enum CSVReadingError: Error {
        case csv
        case export(ExportError)
    }

    private static func rows(_ text: Span<UInt8>) throws(CSVReadingError) -> ExportRows {
        var lines = CSVRows(text)
        guard let header = try next(&lines, text).flatMap(Header.init) else { throw .csv }
        var rows = ExportRows(header.format)
        while let cells = try next(&lines, text) {
            guard let row = header.row(cells) else { continue }
            do { try rows.append(row) } catch { throw .export(error) }
        }
        return rows
    }

    private static func next(
        _ lines: inout CSVRows, _ text: Span<UInt8>
    ) throws(CSVReadingError) -> [SecretBytes]? {
        do { return try lines.next(in: text) } catch { throw .csv }
    }
}

/// The meaning of the columns.
private struct Header {
    let format: ExportFormat
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
        guard let field = first("login_totp", "otpauth", "totp"),
            let title = first("title", "name")
        else { return nil }
        self.field = field
        self.title = title
        users = ["login_username", "username", "email"].compactMap { columns[$0] }
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
    func row(_ cells: [SecretBytes]) -> ExportRow? {
        var row = ExportRow()
        let field: SecretBytes?
        if format == .bitwardenAuthenticator {
            // Issuer, period and digits follow the last column, and a comma in an unquoted name
            // shifts all columns.
            field = cells.first { $0.withBytes(Self.isURI) }
            row.isLabelHTML = true
        } else {
            field = cells.indices.contains(self.field) ? cells[self.field] : nil
        }
        guard let field, field.count > 0 else { return nil }
        row.secret = .field(field)
        if format == .keePassXCCSV { row.placeholders = KeePassAttributes.placeholders }
        row.issuer = text(title, cells)
        row.account = users.map { text($0, cells) }.first { !$0.isEmpty } ?? ""
        row.note = text(note, cells)
        row.tags = tags(text(group, cells))
        row.isFavourite = ["1", "true"].contains(text(favourite, cells).asciiLowercased)
        if ["1", "true"].contains(text(archived, cells).asciiLowercased) { row.state = .archived }
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

    private func text(_ column: Int?, _ cells: [SecretBytes]) -> String {
        guard let column, cells.indices.contains(column) else { return "" }
        return cells[column].decodedText() ?? ""
    }

    private static func isURI(_ cell: Span<UInt8>) -> Bool {
        cell.hasPrefixIgnoringCase("otpauth://") || cell.hasPrefixIgnoringCase("steam://")
    }
}
