internal import Exports
internal import WatchwordCryptography

/// Authenticator Plus' database, encrypted by SQLCipher 3.
enum AuthenticatorPlusContainer {
    private static let pageCount = 1024
    /// The vector, the code and 12 unused bytes at the end of each page.
    private static let reserved = 48
    private static let saltCount = 16
    private static let codeCount = 20

    /// Returns the SQLite database; its pages keep the reserved bytes.
    static func open(
        _ file: SecretBytes, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        guard file.count > 0, file.count.isMultiple(of: pageCount) else {
            throw .damaged(.authenticatorPlus)
        }
        let decryption = Decryption(.authenticatorPlus)
        let salt = file.part(0..<saltCount)
        let key = try decryption.pbkdf2(.sha1, password, salt: salt, iterations: 64_000)
        let codeSalt = SecretBytes(capacity: saltCount) { output in
            salt.withBytes { for index in $0.indices { output.append($0[index] ^ 0x3A) } }
        }
        let codeKey = try decryption.pbkdf2(.sha1, key, salt: codeSalt, iterations: 2)
        return try SecretBytes(capacity: file.count) { output throws(ExportError) in
            for byte in "SQLite format 3\0".utf8 { output.append(byte) }
            for page in 0..<(file.count / pageCount) {
                let start = page * pageCount
                let plaintext = try open(
                    file.part((start + (page == 0 ? saltCount : 0))..<(start + pageCount)),
                    page: page, key, codeKey, decryption)
                plaintext.withBytes { output.append(copying: $0) }
            }
        }
    }

    /// The page with its ciphertext replaced by the plaintext.
    private static func open(
        _ page: SecretBytes, page index: Int, _ key: SecretBytes, _ codeKey: SecretBytes,
        _ decryption: Decryption
    ) throws(ExportError) -> SecretBytes {
        let textEnd = page.count - reserved
        let vectorEnd = textEnd + 16
        let number = (0..<4).map { UInt8(truncatingIfNeeded: (index + 1) >> (8 * $0)) }
        try decryption.verify(
            page.part(vectorEnd..<(vectorEnd + codeCount)), .sha1, key: codeKey,
            of: SecretBytes(joining: [page.part(0..<vectorEnd), SecretBytes(number)]))
        let plaintext = try decryption.openCBC(
            page.part(0..<textEnd), key: key, vector: page.part(textEnd..<vectorEnd),
            hasPadding: false)
        return SecretBytes(joining: [plaintext, page.part(textEnd..<page.count)])
    }
}
