internal import Exports
internal import WatchwordCoding
internal import WatchwordCryptography

/// Aegis' JSON, plain or encrypted.
enum AegisFormat {
    static func read(
        _ document: JSONValue, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        // The app's decryption script writes only the database.
        guard document["db"] != nil else { return try rows(document) }
        guard case .object? = document["db"] else {
            guard document["db"]?.secretText != nil else { throw .damaged(.aegis) }
            return try rows(
                try ExportFormat.aegis.decrypted(document, password, AegisContainer.open))
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
        try rows.append(entries) { row, members throws(ExportRowRefusal) in
            if members["icon"] != nil { iconCount += 1 }
            try fill(&row, members, groups)
        }
        rows.iconCount = iconCount
        return rows
    }

    private static func fill(
        _ row: inout ExportRow, _ members: JSONFields, _ groups: GroupNames
    ) throws(ExportRowRefusal) {
        try row.fill(
            [
                .issuer("issuer"), .account("name"), .note("note"), .favourite("favorite"),
                .tags("groups"),
            ], from: members)
        if members["groups"] != nil {
            row.tags = groups.names(of: row.tags)
        } else {
            try row.fill([.tag("group")], from: members)  // Versions 1 and 2.
        }
        try row.fill(
            [
                .type("type"), .object("info"), .base32("info.secret"), .digits("info.digits"),
                .period("info.period"), .counter("info.counter"), .pin("info.pin"),
                .algorithm("info.algo"), .motp(.decodedToHex),
            ], from: members)
        // The app writes an empty PIN if the entry has none.
        if row.pin?.count == 0 { row.pin = nil }
        // Aegis wrote MD5 on ordinary entries by mistake and reads it as SHA-1.
        if row.algorithm?.uppercased() == "MD5" { row.algorithm = nil }
    }
}

/// Aegis' encrypted vault.
///
/// Each password slot holds the master key, encrypted with a key from its password. Aegis derived
/// some slots from passwords of more than 64 bytes with trailing zeros; those do not open here.
enum AegisContainer {
    /// Returns the JSON of the database.
    static func open(
        _ document: JSONValue, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let decryption = Decryption(.aegis)
        let file = ContainerFields(document, .aegis)
        guard try file.number("version") == 1 else { throw .newerVersion(.aegis) }
        let database = try file.base64("db")
        let header = try file.fields("header")
        let seal = try Seal(try header.fields("params"))
        let slots = try passwordSlots(document["header"]?["slots"], decryption)
        for slot in slots {
            let key = try decryption.scrypt(password, salt: slot.salt, slot.cost)
            if let masterKey = try ifKeyIsRight(slot.seal.open(slot.key, key, decryption)),
                let json = try ifKeyIsRight(seal.open(database, masterKey, decryption))
            {
                return json
            }
        }
        throw .wrongPassword(.aegis)
    }

    private struct Seal {
        let nonce: SecretBytes
        let tag: SecretBytes

        init(_ fields: ContainerFields) throws(ExportError) {
            nonce = try fields.hex("nonce", count: 12)
            tag = try fields.hex("tag", count: 16)
        }

        func open(
            _ ciphertext: SecretBytes, _ key: SecretBytes, _ decryption: Decryption
        ) throws(ExportError) -> SecretBytes {
            try decryption.openGCM(
                SecretBytes(joining: [ciphertext, tag]), key: key, nonce: nonce)
        }
    }

    private struct Slot {
        let key: SecretBytes
        let seal: Seal
        let salt: SecretBytes
        let cost: ScryptCost
    }

    /// The slots of type 1; slots of other types open only in the app.
    private static func passwordSlots(
        _ list: JSONValue?, _ decryption: Decryption
    ) throws(ExportError) -> [Slot] {
        guard let elements = list?.elements else { throw .damaged(.aegis) }
        let found = elements.filter { $0["type"]?.wholeNumber == 1 }
        guard !found.isEmpty else { throw .unreadable(.aegis, .noPasswordSlot) }
        var slots: [Slot] = []
        for element in found {
            let fields = ContainerFields(element, .aegis)
            slots.append(
                Slot(
                    key: try fields.hex("key", count: 32),
                    seal: try Seal(try fields.fields("key_params")),
                    salt: try fields.hex("salt"),
                    // A wrong password costs the derivations of all slots.
                    cost: try decryption.scryptCost(
                        n: try fields.number("n"), r: try fields.number("r"),
                        p: try fields.number("p"), derivations: found.count)))
        }
        return slots
    }
}
