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
    /// Whether the content is compressed.
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
