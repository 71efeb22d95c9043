internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

/// Aegis' JSON, plain or encrypted.
enum AegisFormat {
    static func read(
        _ document: JSONValue, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        // The app's decryption script writes only the database.
        guard document["db"] != nil else { return try rows(document) }
        guard case .object? = document["db"] else {
            guard document["db"]?.secretText != nil else { throw .damaged(.aegis) }
            guard let password else { throw .passwordNeeded(.aegis) }
            let database = try AegisContainer.open(document, password: password)
            return try rows(try readExportJSON(database, .aegis))
        }
        guard let database = document["db"] else { throw .damaged(.aegis) }
        return try rows(database)
    }

    private static func rows(_ database: JSONValue) throws(ExportError) -> ExportRows {
        guard let version = database["version"]?.wholeNumber,
            let entries = database["entries"]?.elements
        else { throw .damaged(.aegis) }
        guard version <= 3 else { throw .newerVersion(.aegis) }
        let groups = GroupNames(database["groups"], id: "uuid", name: "name")
        var rows = ExportRows(.aegis)
        var iconCount = 0
        try rows.append(entries) { row, fields throws(ExportRowRefusal) in
            if fields["icon"] != nil { iconCount += 1 }
            try fill(&row, fields, groups)
        }
        rows.iconCount = iconCount
        return rows
    }

    private static func fill(
        _ row: inout ExportRow, _ fields: JSONFields, _ groups: GroupNames
    ) throws(ExportRowRefusal) {
        row.issuer = try fields.text("issuer")
        row.account = try fields.text("name")
        row.note = try fields.text("note")
        row.isFavourite = try fields.flag("favorite")
        if fields["groups"] != nil {
            row.tags = groups.names(of: try fields.texts("groups"))
        } else if fields["group"] != nil {
            row.tags = [try fields.text("group")]  // Versions 1 and 2.
        }
        row.kind = ExportRow.Kind(word: try fields.text("type"))
        guard let info = try fields.fields("info") else { throw .malformed }
        row.secret = try info.base32("secret")
        row.digits = info.number("digits")
        row.period = info.number("period")
        row.counter = info.number("counter")
        // The app writes an empty PIN if the entry has none.
        row.pin = try info.secret("pin").flatMap { $0.count > 0 ? $0 : nil }
        let algorithm = try info.text("algo")
        // Aegis wrote MD5 on ordinary entries by mistake and reads it as SHA-1.
        row.algorithm = algorithm.uppercased() == "MD5" ? nil : algorithm
        if row.kind == .motp { try row.useHexOfBase32() }
    }
}
