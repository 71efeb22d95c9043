internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

/// 2FAS' JSON, plain or encrypted.
enum TwoFASFormat {
    static func read(
        _ document: JSONValue, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        let groups = GroupNames(document["groups"], id: "id", name: "name")
        if let encrypted = document["servicesEncrypted"]?.secretText, encrypted.count > 0 {
            guard let password else { throw .passwordNeeded(.twoFAS) }
            let services = try TwoFASContainer.open(document, password: password)
            return try rows(try readExportJSON(services, .twoFAS), groups)
        }
        // A decryption tool writes only the services.
        return try rows(document["services"] ?? document, groups)
    }

    private static func rows(
        _ services: JSONValue, _ groups: GroupNames
    ) throws(ExportError) -> ExportRows {
        guard let elements = services.elements else { throw .damaged(.twoFAS) }
        var rows = ExportRows(.twoFAS)
        var positions: [Int64] = []
        for (index, element) in elements.enumerated() {
            var position = Int64(index)
            if case .number(let number)? = element["order"]?["position"] { position = number }
            positions.append(position)
        }
        try rows.append(elements) { row, fields throws(ExportRowRefusal) in
            try fill(&row, fields, groups)
        }
        rows.sort(by: positions)
        return rows
    }

    private static func fill(
        _ row: inout ExportRow, _ fields: JSONFields, _ groups: GroupNames
    ) throws(ExportRowRefusal) {
        let otp = try fields.fields("otp")
        row.issuer = try fields.text("name")
        if row.issuer.isEmpty { row.issuer = try otp?.text("issuer") ?? "" }
        row.account = try otp?.text("account") ?? ""
        row.tags = groups.names(of: [fields["groupId"] ?? .null])
        row.secret = try fields.base32("secret")
        let type = try otp?.text("tokenType") ?? ""
        row.kind = type.isEmpty ? .totp : ExportRow.Kind(word: type)
        row.algorithm = try otp?.text("algorithm")
        row.digits = otp?.number("digits") ?? .absent
        row.period = otp?.number("period") ?? .absent
        row.counter = otp?.number("counter") ?? .absent
    }
}
