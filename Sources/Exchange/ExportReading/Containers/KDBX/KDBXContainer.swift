internal import Exports
internal import WatchwordCryptography
internal import WatchwordSystem

/// KeePass' database, KDBX 3 and 4.
///
/// If the key file is missing, the database looks like one with another password.
enum KDBXContainer {
    /// What a database contains.
    struct Document {
        /// The XML document, whose protected values are still encrypted.
        let xml: SecretBytes
        /// The keystream of the protected values.
        let protection: KDBXProtection
        /// The SHA-256 digest of the header, which the document of version 3 states.
        let headerDigest: SecretBytes
    }

    /// - Parameters:
    ///   - password: The password; `nil` if only a key file opens the database.
    ///   - keyFile: The key file, if the user gave one.
    static func open(
        _ file: SecretBytes, password: SecretBytes?, keyFile: SecretBytes?
    ) throws(ExportError) -> Document {
        let header = try KDBXHeader(file)
        let decryption = Decryption(.keePass)
        let digest = decryption.digest(.sha256, of: file.part(0..<header.count))
        // Check everything that needs no key before deriving the key.
        let blocks = try header.version == 4 ? KDBXBlocks(authenticated: file, header, digest) : nil
        var parts: [SecretBytes] = []
        if let password { parts.append(decryption.digest(.sha256, of: password)) }
        if let keyFile { parts.append(try KDBXKeyFile(keyFile).key) }
        let composite = decryption.digest(.sha256, of: SecretBytes(joining: parts))
        let transformed = try header.derivation.transformed(composite)
        let key = decryption.digest(
            .sha256, of: SecretBytes(joining: [header.seed, transformed]))
        if let blocks {
            let blockKey = decryption.digest(
                .sha512,
                of: SecretBytes(joining: [header.seed, transformed, SecretBytes([1])]))
            let ciphertext = try blocks.verified(blockKey)
            var content = BinaryParts(
                try decompressed(try header.cipher.decrypt(ciphertext, key), header),
                .keePass, .littleEndian)
            let protection = try innerHeader(&content)
            return Document(
                xml: try content.rest(), protection: protection, headerDigest: digest)
        }
        let plaintext = try header.cipher.decrypt(file.part(header.count..<file.count), key)
        let content = try KDBXBlocks.hashed(plaintext, start: header.startBytes)
        return Document(
            xml: try decompressed(content, header),
            protection: try KDBXProtection(header.protection, key: header.protectionKey),
            headerDigest: digest)
    }

    private static func decompressed(
        _ content: SecretBytes, _ header: KDBXHeader
    ) throws(ExportError) -> SecretBytes {
        guard header.isCompressed else { return content }
        let limit = ExportLimits.current.bytes
        do {
            return try content.withBytes { content throws(GzipReadingError) in
                try gunzip(content, limit: limit)
            }
        } catch {
            switch error {
            case .damaged: throw .damaged(.keePass)
            case .tooLong(let found, let allowed):
                throw .overLimit(
                    .keePass, allowed == limit ? .documentSize : .compressionRatio,
                    found: UInt64(found), allowed: UInt64(allowed))
            case .outOfMemory: throw .outOfMemory
            }
        }
    }

    /// Reads the fields before the XML document in version 4; attachments are skipped.
    private static func innerHeader(
        _ content: inout BinaryParts
    ) throws(ExportError) -> KDBXProtection {
        var stream: UInt64 = 0
        var key = SecretBytes([])
        while true {
            let field = try content.number(width: 1)
            let count = try content.count()
            switch field {
            case 0:
                try content.skip(count)
                return try KDBXProtection(stream, key: key)
            case 1:
                guard count == 4 else { throw .damaged(.keePass) }
                stream = try content.number(width: 4)
            case 2: key = try content.take(count)
            default: try content.skip(count)
            }
        }
    }
}
