internal import Exports
internal import WatchwordCoding
internal import WatchwordCryptography

/// The JSON in 1Password's archive.
enum OnePasswordFormat {
    static func read(
        _ document: JSONValue, attachmentCount: Int
    ) throws(ExportError) -> ExportRows {
        guard let accounts = document["accounts"]?.elements else { throw .damaged(.onePassword) }
        var rows = ExportRows(.onePassword)
        for vault in accounts.flatMap({ $0["vaults"]?.elements ?? [] }) {
            let name = vault["attrs"]?["name"]?.string ?? ""
            for element in vault["items"]?.elements ?? [] {
                // Older files wrap each item.
                let item = element["item"] ?? element
                for (index, field) in fields(of: item).enumerated() {
                    try rows.append { row throws(ExportRowRefusal) in
                        try fill(&row, try JSONFields(item), vault: name)
                        row.secret = .field(field.secret)
                        if index > 0 && !field.title.isEmpty {
                            row.account += row.account.isEmpty ? field.title : " (\(field.title))"
                        }
                    }
                }
            }
        }
        rows.iconCount = attachmentCount
        return rows
    }

    /// The fields of an item with a one-time password.
    private static func fields(of item: JSONValue) -> [(title: String, secret: SecretBytes)] {
        let sections = item["details"]?["sections"]?.elements ?? []
        return sections.flatMap { $0["fields"]?.elements ?? [] }.compactMap { field in
            guard let secret = field["value"]?["totp"]?.secretText, secret.count > 0 else {
                return nil
            }
            return (field["title"]?.string ?? "", secret)
        }
    }

    private static func fill(
        _ row: inout ExportRow, _ item: JSONFields, vault: String
    ) throws(ExportRowRefusal) {
        try row.fill([.issuer("overview.title")], from: item)
        row.tags = [vault] + (try item.texts("overview.tags"))
        try row.fill([.note("details.notesPlain")], from: item)
        let userName = try item.list("details.loginFields").first {
            $0["designation"]?.string == "username"
        }
        row.account = userName?["value"]?.string ?? ""
        if try item.text("state") == "archived" { row.state = .archived }
        row.isFavourite = ![.absent, .value(0)].contains(item.number("favIndex"))
    }
}
