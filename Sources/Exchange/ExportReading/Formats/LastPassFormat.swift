internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

/// LastPass Authenticator's JSON.
enum LastPassFormat {
    static func read(_ document: JSONValue) throws(ExportError) -> ExportRows {
        guard let elements = document["accounts"]?.elements else { throw .damaged(.lastPass) }
        let folders = GroupNames(document["folders"], id: "id", name: "name")
        var rows = ExportRows(.lastPass)
        try rows.append(elements) { row, fields throws(ExportRowRefusal) in
            row.issuer = try edited("issuerName", "originalIssuerName", fields)
            row.account = try edited("userName", "originalUserName", fields)
            row.secret = try fields.base32("secret")
            row.period = fields.number("timeStep")
            row.digits = fields.number("digits")
            row.algorithm = try fields.text("algorithm")
            row.isFavourite = try fields.flag("isFavorite")
            guard let folder = try fields.fields("folderData") else { return }
            // Folder 0 is "Other accounts" and folder 1 "Favorites".
            if case .value(let id) = folder.number("folderId"), id > 1 {
                row.tags = folders.names(of: [JSONValue.number(id)])
            }
        }
        return rows
    }

    /// The edited name, which may be empty; the original one only if there is no edited one.
    private static func edited(
        _ name: String, _ original: String, _ fields: JSONFields
    ) throws(ExportRowRefusal) -> String {
        fields[name] == nil ? try fields.text(original) : try fields.text(name)
    }
}
