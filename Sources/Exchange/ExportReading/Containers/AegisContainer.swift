internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

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
            do {
                let key = try decryption.scrypt(password, salt: slot.salt, slot.cost)
                let masterKey = try slot.seal.open(slot.key, key, decryption)
                return try seal.open(database, masterKey, decryption)
            } catch .wrongPassword {
                continue
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

    /// The slots of type 1; the others open only in the app.
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
