internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

/// 2FAS' encrypted services.
enum TwoFASContainer {
    /// Returns the JSON list of services.
    static func open(
        _ document: JSONValue, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let parts = try parts(ContainerFields(document, .twoFAS).text("servicesEncrypted"))
        guard parts.count == 3, parts[2].count == 12 else { throw .damaged(.twoFAS) }
        let decryption = Decryption(.twoFAS)
        let key = try decryption.pbkdf2(.sha256, password, salt: parts[1], iterations: 10_000)
        return try decryption.openGCM(parts[0], key: key, nonce: parts[2])
    }

    /// Texts in Base64, separated by colons.
    private static func parts(_ text: SecretBytes) throws(ExportError) -> [SecretBytes] {
        let colons = text.withBytes { text in
            text.indices.filter { text[$0] == UInt8(ascii: ":") }
        }
        guard colons.count == 2 else { throw .damaged(.twoFAS) }
        var parts: [SecretBytes] = []
        var start = 0
        for end in colons + [text.count] {
            guard let part = text.part(start..<end).decodedBase64() else { throw .damaged(.twoFAS) }
            parts.append(part)
            start = end + 1
        }
        return parts
    }
}
