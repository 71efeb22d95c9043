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

/// Proton Authenticator's JSON, plain or encrypted.
enum ProtonAuthenticatorFormat {
    static func read(
        _ document: JSONValue, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        guard document["entries"] == nil else { return try rows(document) }
        return try rows(
            try ExportFormat.protonAuthenticator.decrypted(
                document, password, ProtonAuthenticatorContainer.open))
    }

    private static func rows(_ document: JSONValue) throws(ExportError) -> ExportRows {
        guard let version = document["version"]?.wholeNumber,
            let entries = document["entries"]?.elements
        else { throw .damaged(.protonAuthenticator) }
        guard version <= 1 else { throw .newerVersion(.protonAuthenticator) }
        var rows = ExportRows(.protonAuthenticator)
        try rows.append(entries) { row, members throws(ExportRowRefusal) in
            // The name is the account as the user edited it.
            row.prefersOwnNames = true
            try row.fill(
                [
                    .note("note"), .object("content"), .account("content.name"),
                    .uri("content.uri"),
                ], from: members)
        }
        return rows
    }
}

/// Proton Authenticator's encrypted export.
enum ProtonAuthenticatorContainer {
    private static let associatedData = Array("proton.authenticator.export.v1".utf8)

    /// Returns the JSON of the plain export.
    static func open(
        _ document: JSONValue, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let file = ContainerFields(document, .protonAuthenticator)
        guard try file.number("version") == 1 else { throw .newerVersion(.protonAuthenticator) }
        let salt = try file.base64("salt", count: 16)
        var content = BinaryParts(try file.base64("content"), .protonAuthenticator)
        let nonce = try content.take(12)
        let sealed = try content.rest()
        guard sealed.count >= 16 else { throw .damaged(.protonAuthenticator) }
        let decryption = Decryption(.protonAuthenticator)
        let key = try decryption.derive(
            Argon2(.id, kibibytes: 19_456, passes: 2, lanes: 1), password, salt: salt)
        return try decryption.openGCM(
            sealed, key: key, nonce: nonce, associatedData: associatedData)
    }
}
