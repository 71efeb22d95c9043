internal import Exports
internal import WatchwordCoding
internal import WatchwordCryptography

/// Proton Pass' JSON, plain or as an OpenPGP message.
enum ProtonPassFormat {
    static func read(
        encrypted message: SecretBytes, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        // Whether a password can open the message is known only after an attempt.
        let attempt = password ?? SecretBytes(capacity: 0) { _ in }
        let plain = try reading(.protonPass) { () throws(ContainerError) in
            do throws(ContainerError) {
                return try decryptOpenPGP(
                    message, password: attempt, limit: ExportLimits.current.bytes)
            } catch .wrongPassword where password == nil {
                throw .passwordNeeded
            }
        }
        return try read(try readExportJSON(plain, .protonPass))
    }

    static func read(_ document: JSONValue) throws(ExportError) -> ExportRows {
        guard let vaults = document["vaults"]?.members else { throw .damaged(.protonPass) }
        var rows = ExportRows(.protonPass)
        for (_, vault) in vaults {
            let name = vault["name"]?.string ?? ""
            for item in vault["items"]?.elements ?? [] {
                for field in fields(of: item) {
                    try rows.append { row throws(ExportRowRefusal) in
                        try fill(&row, try JSONFields(item), vault: name)
                        row.secret = .field(field)
                    }
                }
            }
        }
        return rows
    }

    /// The fields of an item with a one-time password.
    private static func fields(of item: JSONValue) -> [SecretBytes] {
        let data = item["data"]
        let extra = (data?["extraFields"]?.elements ?? []).filter {
            $0["type"]?.string == "totp"
        }
        return ([data?["content"]?["totpUri"]] + extra.map { $0["data"]?["totpUri"] })
            .compactMap { $0?.secretText }.filter { $0.count > 0 }
    }

    private static func fill(
        _ row: inout ExportRow, _ item: JSONFields, vault: String
    ) throws(ExportRowRefusal) {
        row.tags = [vault]
        if item.number("state") == .value(2) { row.state = .deleted }
        try row.fill(
            [
                .favourite("pinned"), .object("data"), .issuer("data.metadata.name"),
                .note("data.metadata.note"), .account("data.content.itemUsername"),
                .account("data.content.itemEmail"),
            ], from: item)
    }
}
