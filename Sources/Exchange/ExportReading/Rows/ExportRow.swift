internal import Exports
internal import OneTimePassword
internal import WatchwordCoding
internal import WatchwordCryptography

/// An entry of an export with its values as they stand in the file.
///
/// Readers of formats create rows; ``ExportRow/entry()`` turns each into an entry or refuses it, so
/// that the rules for secrets, names, types and numbers exist once.
struct ExportRow {
    /// The secret in the file's encoding.
    enum Secret {
        case none
        /// Text in Base32, in any form that apps write.
        case base32(SecretBytes)
        /// Text in hexadecimal digits.
        case hex(SecretBytes)
        case bytes(SecretBytes)
        /// Text that is the secret itself, as for Mobile-OTP.
        case text(SecretBytes)
        /// A complete key URI, `otpauth:`, `steam:` or `motp:`, or a bare Base32 secret.
        case field(SecretBytes)
    }

    /// A type; the reader of each format interprets its spelling.
    enum Kind: Hashable {
        case totp, hotp, steam, motp, yandex, unknown
    }

    /// A number as it stands in the file: absent or null, or a value that may be out of range.
    enum Number: Hashable {
        case absent
        case value(Int64)
        /// A counter above `Int64.max`.
        case large(UInt64)
        /// Not a whole number.
        case malformed
    }

    /// The position in the file, counted from one; set when the row is appended.
    fileprivate(set) var number = 0
    /// The line on which the row was found, counted from one; `nil` if the file is not a list of
    /// lines.
    var line: Int?
    var kind = Kind.totp
    var issuer = ""
    var account = ""
    var secret = Secret.none
    /// The algorithm as written; `nil` or empty is SHA-1.
    var algorithm: String?
    var digits = Number.absent
    var period = Number.absent
    var counter = Number.absent
    var pin: SecretBytes?
    /// The last code that a server accepted, if the file comes from a server.
    var lastUse = LastUse.unknown
    var tags: [String] = []
    var note = ""
    /// The name of an icon; empty if there is none, or only an image.
    var icon = ""
    var isFavourite = false
    var state = ExportedEntry.State.active
    /// Deviations that the format's reader accepted.
    var warnings: [ExportWarning] = []
    /// Whether the row's names replace those of its key URI.
    ///
    /// Otherwise they are used where the URI has none.
    var prefersOwnNames = false
    /// Names in the key URI that the app writes for empty ones.
    var placeholders: [String] = []
    /// Whether the label of the key URI has HTML entities.
    var isLabelHTML = false
    /// Why the format's reader already refuses the row.
    var refusal: ExportRowRefusal?

    /// Splits an account of the form "issuer:account" that has no issuer elsewhere.
    ///
    /// - Returns: whether the account contains the separator.
    @discardableResult mutating func splitAccount(at separator: String = ":") -> Bool {
        var rest = account[...]
        while !rest.isEmpty, !rest.hasPrefix(separator) { rest = rest.dropFirst() }
        guard !rest.isEmpty else { return false }
        issuer = String(account[..<rest.startIndex])
        account = String(rest.dropFirst(separator.count))
        return true
    }
}

/// Refuses the row with `reason` if `body` throws.
func refusing<Value>(
    as reason: ExportRowRefusal, _ body: () throws -> Value
) throws(ExportRowRefusal) -> Value {
    do { return try body() } catch { throw reason }
}

/// The result of a format's reader.
struct ExportRows {
    var format: ExportFormat
    private(set) var rows: [ExportRow] = []
    var iconCount = 0
    /// The missing images of a Google Authenticator export, counted from one.
    var missingPictures: [Int] = []
    var emergencyCodeCount = 0

    init(_ format: ExportFormat) { self.format = format }

    /// Appends a row.
    ///
    /// - Throws: ``ExportError/overLimit(_:_:found:allowed:)``.
    mutating func append(_ row: ExportRow) throws(ExportError) {
        let limit = ExportLimits.current.rows(of: format)
        guard rows.count < limit else {
            throw .overLimit(
                format, .rows, found: UInt64(rows.count) + 1, allowed: UInt64(limit))
        }
        rows.append(row)
        rows[rows.count - 1].number = rows.count
    }

    /// Appends a row that `fill` fills.
    ///
    /// If it throws, the row is refused with this reason.
    mutating func append(
        filling fill: (inout ExportRow) throws(ExportRowRefusal) -> Void
    ) throws(ExportError) {
        var row = ExportRow()
        do { try fill(&row) } catch { row.refusal = error }
        try append(row)
    }

    /// Appends a row for each line of a text; `fill` is lent the line.
    ///
    /// - Parameter hasComments: Whether lines that begin with `#` are left out.
    mutating func append(
        linesOf text: SecretBytes, hasComments: Bool = false,
        filling fill: (inout ExportRow, Span<UInt8>) throws(ExportRowRefusal) -> Void
    ) throws(ExportError) {
        try text.withBytes { text throws(ExportError) in
            var lines = TextLines(text)
            while let line = lines.next(in: text) {
                let content = text.extracting(line.range)
                if hasComments, content[0] == UInt8(ascii: "#") { continue }
                try append { row throws(ExportRowRefusal) in
                    row.line = line.number
                    try fill(&row, content)
                }
            }
        }
    }

    /// Appends a row for each element of a JSON list; an element that is not an object is refused.
    mutating func append(
        _ elements: [JSONValue],
        filling fill: (inout ExportRow, JSONFields) throws(ExportRowRefusal) -> Void
    ) throws(ExportError) {
        for element in elements {
            try append { row throws(ExportRowRefusal) in
                try fill(&row, try JSONFields(element))
            }
        }
    }

    /// Appends a row with these fields for each element of a JSON list.
    mutating func append(_ elements: [JSONValue], fields: [RowField]) throws(ExportError) {
        try append(elements) { row, members throws(ExportRowRefusal) in
            try row.fill(fields, from: members)
        }
    }

    /// Sorts the rows by `position`; rows with the same position stay in the order of the file.
    mutating func sort(by position: [Int64]) {
        guard position.count == rows.count else { return }
        let order = rows.indices.sorted { (position[$0], $0) < (position[$1], $1) }
        rows = order.map { rows[$0] }
    }
}

extension ExportRow.Kind {
    /// Recognises the word that apps use for a type, in any case.
    init(word: String) {
        self =
            switch word.asciiLowercased {
            case "totp": .totp
            case "hotp": .hotp
            case "steam": .steam
            case "motp": .motp
            case "yandex": .yandex
            default: .unknown
            }
    }
}
