internal import Exports
internal import WatchwordCryptography
internal import WatchwordSystem

/// The header of a KDBX file, which is not encrypted.
struct KDBXHeader {
    private static let signature: [UInt8] = [0x03, 0xD9, 0xA2, 0x9A, 0x67, 0xFB, 0x4B, 0xB5]
    private static let version1: [UInt8] = [0x03, 0xD9, 0xA2, 0x9A, 0x65, 0xFB, 0x4B, 0xB5]

    /// The major version, 2 to 4.
    let version: UInt64
    /// The length in bytes.
    let count: Int
    /// The cipher of the content.
    let cipher: KDBXCipher
    let isCompressed: Bool
    /// The seed of the key.
    let seed: SecretBytes
    /// How the key is derived.
    let derivation: KDBXDerivation
    /// In version 3, the number of the cipher of protected values, its key, and the bytes with
    /// which the plaintext starts.
    let protection: UInt64
    let protectionKey: SecretBytes
    let startBytes: SecretBytes

    init(_ file: SecretBytes) throws(ExportError) {
        var parts = BinaryParts(file, .keePass, .littleEndian)
        let signature = try parts.take(Self.signature.count)
        if signature == SecretBytes(Self.version1) { throw .unreadable(.keePass, .keePass1) }
        guard signature == SecretBytes(Self.signature) else { throw .damaged(.keePass) }
        try parts.skip(2)  // The minor version adds only fields that may be skipped.
        version = try parts.number(width: 2)
        // Early programs wrote version 2, which has the layout of version 3.
        guard version >= 2 else { throw .damaged(.keePass) }
        guard version <= 4 else { throw .newerVersion(.keePass) }
        let fields = try Self.fields(&parts, lengthWidth: version == 4 ? 4 : 2)
        count = parts.position

        func field(_ number: UInt64, count: Int) throws(ExportError) -> SecretBytes {
            guard let value = fields[number], value.count == count else {
                throw .damaged(.keePass)
            }
            return value
        }
        func number(_ field: SecretBytes) throws(ExportError) -> UInt64 {
            var parts = BinaryParts(field, .keePass, .littleEndian)
            return try parts.number(width: field.count)
        }
        switch try number(try field(3, count: 4)) {
        case 0: isCompressed = false
        case 1: isCompressed = true
        default: throw .unreadable(.keePass, .unsupportedAlgorithm)
        }
        seed = try field(4, count: 32)
        cipher = try KDBXCipher(try field(2, count: 16), vector: fields[7])
        if version == 4 {
            derivation = try KDBXDerivation(parameters: fields[11])
            protection = 0
            protectionKey = SecretBytes([])
            startBytes = SecretBytes([])
        } else {
            derivation = .aes(
                seed: try field(5, count: 32), rounds: try number(try field(6, count: 8)))
            protection = try number(try field(10, count: 4))
            guard let key = fields[8] else { throw .damaged(.keePass) }
            protectionKey = key
            startBytes = try field(9, count: 32)
        }
    }

    /// The fields up to the one with the number 0; the last of each number.
    private static func fields(
        _ parts: inout BinaryParts, lengthWidth: Int
    ) throws(ExportError) -> [UInt64: SecretBytes] {
        var fields: [UInt64: SecretBytes] = [:]
        while true {
            let field = try parts.number(width: 1)
            let count = try parts.number(width: lengthWidth)
            guard count <= UInt64(parts.remaining) else { throw .damaged(.keePass) }
            let value = try parts.take(Int(count))
            if field == 0 { return fields }
            fields[field] = value
        }
    }
}

/// How a KDBX file's key is derived from the composite key.
enum KDBXDerivation {
    case aes(seed: SecretBytes, rounds: UInt64)
    case argon2(Argon2, salt: SecretBytes)

    /// Reads version 4's parameters.
    init(parameters: SecretBytes?) throws(ExportError) {
        guard let parameters else { throw .damaged(.keePass) }
        let dictionary = try KDBXDictionary(parameters)
        switch try dictionary.bytes("$UUID").encodedHex().decodedText() {
        case "c9d9f39a628a4460bf740d08c18a4fea", "7c02bb8279a74ac0927d114a00648238":
            let seed = try dictionary.bytes("S")
            guard seed.count == 32 else { throw .damaged(.keePass) }
            self = .aes(seed: seed, rounds: try dictionary.number("R"))
        case "ef636ddf8c29444b91f7a9a403e30a0c": self = try .init(.d, dictionary)
        case "9e298b1956db4773b23dfc3ec6f0a1e6": self = try .init(.id, dictionary)
        default: throw .unreadable(.keePass, .unsupportedAlgorithm)
        }
    }

    private init(
        _ variant: Argon2Variant, _ dictionary: KDBXDictionary
    ) throws(ExportError) {
        let version: Argon2Version
        switch try dictionary.number("V") {
        case 0x10: version = .old
        case 0x13: version = .current
        default: throw .unreadable(.keePass, .unsupportedAlgorithm)
        }
        // No known program writes the optional secret and associated data.
        guard !dictionary.contains("K"), !dictionary.contains("A") else {
            throw .unreadable(.keePass, .unsupportedAlgorithm)
        }
        let salt = try dictionary.bytes("S")
        let argon2 = Argon2(
            variant, version: version, kibibytes: try dictionary.number("M") / 1024,
            passes: try dictionary.number("I"), lanes: try dictionary.number("P"))
        self = .argon2(argon2, salt: salt)
    }

    func transformed(_ composite: SecretBytes) throws(ExportError) -> SecretBytes {
        let decryption = Decryption(.keePass)
        switch self {
        case .aes(let seed, let rounds):
            return try decryption.aesKDF(composite, seed: seed, rounds: rounds)
        case .argon2(let argon2, let salt):
            return try decryption.derive(argon2, composite, salt: salt)
        }
    }
}

/// KeePass' variant dictionary: names with typed values.
private struct KDBXDictionary {
    private enum Value {
        case number(UInt64)
        case bytes(SecretBytes)
    }

    private var values: [String: Value] = [:]

    init(_ bytes: SecretBytes) throws(ExportError) {
        var parts = BinaryParts(bytes, .keePass, .littleEndian)
        // The high byte is the major version.
        guard try parts.number(width: 2) >> 8 == 1 else { throw .newerVersion(.keePass) }
        while true {
            let type = try parts.number(width: 1)
            if type == 0 { break }
            let name = try parts.take(try parts.count()).decodedText()
            let count = try parts.count()
            guard let name, values[name] == nil else { throw .damaged(.keePass) }
            switch (type, count) {
            // Unsigned numbers, and signed ones, which KeePass writes for none of these names.
            case (0x04, 4), (0x05, 8), (0x0C, 4), (0x0D, 8), (0x08, 1):
                values[name] = .number(try parts.number(width: count))
            case (0x18, _), (0x42, _): values[name] = .bytes(try parts.take(count))
            default: throw .damaged(.keePass)
            }
        }
        guard parts.remaining == 0 else { throw .damaged(.keePass) }
    }

    func contains(_ name: String) -> Bool { values[name] != nil }

    func number(_ name: String) throws(ExportError) -> UInt64 {
        guard case .number(let number)? = values[name] else { throw .damaged(.keePass) }
        return number
    }

    func bytes(_ name: String) throws(ExportError) -> SecretBytes {
        guard case .bytes(let bytes)? = values[name] else { throw .damaged(.keePass) }
        return bytes
    }
}
