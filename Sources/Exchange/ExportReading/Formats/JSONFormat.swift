internal import Exports
internal import OneTimePassword
internal import WatchwordCoding
internal import WatchwordCryptography

/// A format of JSON exports: how it is recognised, and how it is read.
struct JSONFormat: Sendable {
    typealias Marks = @Sendable (JSONValue) -> Bool
    typealias Reading = @Sendable (JSONValue, SecretBytes?) throws(ExportError) -> ExportRows

    /// Whether a document that is not a list has this format.
    private let isDocument: Marks
    /// Whether a list with this element has this format.
    private let isElement: Marks
    /// Reads a document; the second argument is the export's password, if the user gave one.
    let read: Reading

    init(
        isDocument: @escaping Marks = { _ in false }, isElement: @escaping Marks = { _ in false },
        read: @escaping Reading
    ) {
        self.isDocument = isDocument
        self.isElement = isElement
        self.read = read
    }

    /// A format that is never encrypted.
    init(
        isDocument: @escaping Marks = { _ in false }, isElement: @escaping Marks = { _ in false },
        plain: @escaping @Sendable (JSONValue) throws(ExportError) -> ExportRows
    ) {
        self.init(isDocument: isDocument, isElement: isElement) {
            document, _ throws(ExportError) in try plain(document)
        }
    }

    /// A simple format: a list of objects with these fields.
    ///
    /// - Parameter adjust: A change that the fields cannot express.
    init(
        _ format: ExportFormat, isElement: @escaping Marks = { _ in false }, fields: [RowField],
        adjust: @escaping @Sendable (inout ExportRow, JSONFields) -> Void = { _, _ in }
    ) {
        self.init(
            isElement: isElement,
            plain: { document throws(ExportError) in
                guard let elements = document.elements else { throw .damaged(format) }
                var rows = ExportRows(format)
                try rows.append(elements) { row, members throws(ExportRowRefusal) in
                    try row.fill(fields, from: members)
                    adjust(&row, members)
                }
                return rows
            })
    }

    /// The format of a document; `nil` if it is unknown.
    init?(_ document: JSONValue) {
        var format: JSONFormat?
        if let elements = document.elements {
            // A row of the wrong type must not hide the format.
            for element in elements where format == nil {
                format = Self.all.first { $0.isElement(element) }
            }
        } else {
            format = Self.all.first { $0.isDocument(document) }
        }
        guard let format else { return nil }
        self = format
    }
}

extension JSONValue {
    /// Whether the value has members with all these names.
    func has(_ names: String...) -> Bool { names.allSatisfy { self[$0] != nil } }
}

extension JSONValue? {
    /// Whether the value is a list with an element that has this member, or this member of a
    /// member.
    func contains(_ path: String...) -> Bool {
        self?.elements?.contains { element in
            path.reduce(element) { value, name in value?[name] } != nil
        } ?? false
    }
}

extension JSONFormat {
    /// The formats that are recognised by their keys, in this order.
    static let all = [
        JSONFormat(isElement: { $0.has("otpGenerator") }, plain: DuoFormat.read),
        JSONFormat(
            isDocument: {
                // An export, or only the database that it contains.
                $0.has("version", "header", "db")
                    || $0.has("version") && $0["entries"].contains("info", "secret")
            }, read: AegisFormat.read),
        JSONFormat(
            isDocument: {
                $0.has("schemaVersion", "services") || $0.has("schemaVersion", "servicesEncrypted")
            }, isElement: { $0.has("otp", "secret") }, read: TwoFASFormat.read),
        JSONFormat(isDocument: { $0.has("tokens", "tokenOrder") }, plain: FreeOTPPlusFormat.read),
        JSONFormat(
            isDocument: { $0.has("kdfParams", "encryptedData", "encryptionNonce") },
            read: EnteFormat.read),
        JSONFormat(
            isDocument: { $0.has("nonce", "salt", "cipher") || $0.has("version", "elements") },
            read: CotpFormat.read),
        JSONFormat(
            isDocument: { document in
                document["items"]?.elements?.contains {
                    $0.secretText != nil || $0["rawData"] != nil
                } ?? false
            }, plain: URIListFormat.read),
        JSONFormat(
            isDocument: {
                $0["entries"].contains("steamid") && $0["entries"].contains("filename")
            }, plain: { _ throws(ExportError) in throw .unreadable(.steam, .manifest) }),
        // Before Bitwarden: Proton Pass, too, states whether the file is encrypted.
        JSONFormat(isDocument: { $0["vaults"]?.members != nil }, plain: ProtonPassFormat.read),
        JSONFormat(
            isDocument: {
                $0["encrypted"]?.truth != nil || $0.has("items", "folders")
                    || $0.has("items", "collections")
            }, read: BitwardenFormat.read),
        JSONFormat(
            isDocument: {
                guard $0["entries"]?.elements == nil else {
                    return $0["entries"].contains("content", "uri")
                }
                return $0.has("salt", "content")
            }, read: ProtonAuthenticatorFormat.read),
        JSONFormat(
            isDocument: { $0["accounts"].contains("issuerName") }, plain: LastPassFormat.read),
        JSONFormat(
            isDocument: { document in
                document.has("shared_secret")
                    || document["accounts"]?.members?.contains { $0.1.has("shared_secret") }
                        ?? false
            }, plain: SteamFormat.read),
        JSONFormat(isDocument: { $0.has("Authenticators") }, plain: StratumFormat.read),
        JSONFormat(
            isDocument: {
                $0.members?.count == 1 && $0.members?[0].0.utf8.first == UInt8(ascii: "[")
            }, plain: TOTPAuthenticatorJSON.read),
        raivo, andOTP,
        JSONFormat(
            isElement: {
                $0.has("encryptedSecret") || $0.has("decryptedSecret") || $0.has("secretSeed")
            }, read: AuthyFormat.read),
    ]

    /// Raivo's JSON, whose values are all texts.
    ///
    /// If the export failed, the app wrote an object with a message instead.
    static let raivo = JSONFormat(
        .raivo, isElement: { $0.has("kind", "timer", "secret") },
        fields: [
            .issuer("issuer"), .account("account"), .base32("secret"), .algorithm("algorithm"),
            .digitsText("digits"), .periodText("timer"), .counterText("counter"), .type("kind"),
            .favouriteText("pinned"), .icon("iconValue"),
        ])

    /// andOTP's JSON; old files have only a label, "issuer - account".
    static let andOTP = JSONFormat(
        .andOTP, isElement: { $0.has("secret", "label", "type", "algorithm") },
        fields: [
            .issuer("issuer"), .label("label", " - ", unless: "issuer"), .tags("tags"),
            .icon("thumbnail"), .optionalType("type"), .base32("secret"), .algorithm("algorithm"),
            .digits("digits"),
            .period("period"), .counter("counter"), .motp(.decoded),
        ]
    ) { row, _ in
        if row.icon == "Default" { row.icon = "" }
    }

    /// The JSON that OTPClient's databases contain.
    static let otpClient = JSONFormat(
        .otpClient,
        fields: [
            .issuer("issuer"), .account("label"), .tag("group"), .type("type"), .base32("secret"),
            .algorithm("algo"), .digits("digits"), .period("period"), .counter("counter"),
        ]
    ) { row, _ in
        if row.kind == .totp, row.issuer.asciiLowercased == "steam" { row.kind = .steam }
    }
}

/// The JSON that LastPass Authenticator exports.
enum LastPassFormat {
    static func read(_ document: JSONValue) throws(ExportError) -> ExportRows {
        guard let elements = document["accounts"]?.elements else { throw .damaged(.lastPass) }
        let folders = GroupNames(document["folders"], id: "id", name: "name")
        var rows = ExportRows(.lastPass)
        try rows.append(elements) { row, members throws(ExportRowRefusal) in
            try row.fill(
                [
                    // The edited names, which may be empty, replace the original ones.
                    .issuer("issuerName"), .issuer("originalIssuerName", unless: "issuerName"),
                    .account("userName"), .account("originalUserName", unless: "userName"),
                    .base32("secret"), .period("timeStep"), .digits("digits"),
                    .algorithm("algorithm"), .favourite("isFavorite"),
                    .object("folderData", isOptional: true),
                ], from: members)
            // Folder 0 is "Other accounts" and folder 1 "Favorites".
            if case .value(let id) = members.number("folderData.folderId"), id > 1 {
                row.tags = folders.names(of: [JSONValue.number(id)])
            }
        }
        return rows
    }
}

/// The JSON that Duo exports.
enum DuoFormat {
    static func read(_ document: JSONValue) throws(ExportError) -> ExportRows {
        guard let elements = document.elements else { throw .damaged(.duo) }
        // Duo's own accounts have no one-time password.
        let items = elements.filter { item in
            if case .object? = item["otpGenerator"] { return true }
            return item.members == nil
        }
        var rows = ExportRows(.duo)
        var iconCount = 0
        try rows.append(items) { row, members throws(ExportRowRefusal) in
            try row.fill([.account("name")], from: members)
            if members["logoUri"] != nil { iconCount += 1 }
            try row.fill(
                [
                    .object("otpGenerator"), .base32("otpGenerator.otpSecret"),
                    .counter("otpGenerator.counter"),
                ], from: members)
            row.kind = row.counter == .absent ? .totp : .hotp
        }
        rows.iconCount = iconCount
        return rows
    }
}
