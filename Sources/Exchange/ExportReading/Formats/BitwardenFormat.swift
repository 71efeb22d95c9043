internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

/// JSON of Bitwarden and Bitwarden Authenticator, plain or password-protected.
enum BitwardenFormat {
    static func read(
        _ document: JSONValue, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        guard document["encrypted"]?.truth == true else { return try rows(document) }
        guard document["passwordProtected"]?.truth == true else {
            throw .unreadable(.bitwarden, .accountRestricted)
        }
        guard let password else { throw .passwordNeeded(.bitwarden) }
        let plain = try BitwardenContainer.open(document, password: password)
        return try rows(try readExportJSON(plain, .bitwarden))
    }

    private static func rows(_ document: JSONValue) throws(ExportError) -> ExportRows {
        guard let items = document["items"]?.elements else { throw .damaged(.bitwarden) }
        // The authenticator has neither folders nor collections.
        let isVault = document["folders"] != nil || document["collections"] != nil
        let folders = GroupNames(document["folders"], id: "id", name: "name")
        let collections = GroupNames(document["collections"], id: "id", name: "name")
        var rows = ExportRows(isVault ? .bitwarden : .bitwardenAuthenticator)
        try rows.append(items.filter(hasField)) { row, fields throws(ExportRowRefusal) in
            try fill(&row, fields, isVault: isVault)
            row.tags = folders.names(of: [fields["folderId"] ?? .null])
            row.tags += collections.names(of: try fields.list("collectionIds"))
        }
        return rows
    }

    /// Whether the item is a login with a one-time password.
    private static func hasField(_ item: JSONValue) -> Bool {
        switch item["login"]?["totp"] {
        case nil, .null?: false
        case .secret(let text)?: text.count > 0
        default: true
        }
    }

    private static func fill(
        _ row: inout ExportRow, _ fields: JSONFields, isVault: Bool
    ) throws(ExportRowRefusal) {
        if fields["archivedDate"] != nil { row.state = .archived }
        if fields["deletedDate"] != nil { row.state = .deleted }
        row.issuer = try fields.text("name")
        row.note = try fields.text("notes")
        row.isFavourite = try fields.flag("favorite")
        guard let login = try fields.fields("login") else { throw .malformed }
        row.account = try login.text("username")
        guard let field = try login.secret("totp") else { throw .noSecret }
        row.secret = .field(field)
        row.isLabelHTML = !isVault
    }
}
