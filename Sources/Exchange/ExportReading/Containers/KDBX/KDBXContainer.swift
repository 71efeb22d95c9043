internal import Exports
internal import OneTimePassword
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
        return try reading(.keePass) { () throws(ContainerError) in
            try content.withBytes { content throws(ContainerError) in
                try gunzip(content, limit: limit)
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

/// The key in a KeePass key file.
struct KDBXKeyFile {
    /// The key, 32 bytes.
    let key: SecretBytes

    private static let keyCount = 32

    /// Reads XML, 32 bytes or 64 hexadecimal digits; the key of any other file is its digest.
    init(_ file: SecretBytes) throws(ExportError) {
        if file.count == Self.keyCount {
            key = file
        } else if file.count == 2 * Self.keyCount, let bytes = file.decodedHex() {
            key = bytes
        } else if let root = Self.document(file) {
            key = try Self.key(in: root)
        } else {
            key = Decryption(.keePass).digest(.sha256, of: file)
        }
    }

    private static func document(_ file: SecretBytes) -> XMLElement? {
        do {
            let root = try readXML(file, limits: XMLLimits(bytes: 1 << 20))
            return root.name == "KeyFile" ? root : nil
        } catch {
            // It is not a key file of the XML format.
            return nil
        }
    }

    /// Version 1 contains the key in Base64; version 2 contains it in hexadecimal digits, with the
    /// first 4 bytes of its digest.
    private static func key(in root: XMLElement) throws(ExportError) -> SecretBytes {
        guard let data = root["Key"]?["Data"], let version = root["Meta"]?["Version"]?.string else {
            throw .unreadable(.keePass, .badKeyFile)
        }
        let text = data.text.withoutSpaces
        let key = version.hasPrefix("2.") ? text.decodedHex() : text.decodedBase64()
        guard let key, key.count == keyCount else { throw .unreadable(.keePass, .badKeyFile) }
        if let stated = data.attributeString("Hash") {
            let digest = Decryption(.keePass).digest(.sha256, of: key)
            let beginning = digest.part(0..<4).encodedHex().decodedText()
            guard beginning == stated.asciiLowercased else {
                throw .unreadable(.keePass, .badKeyFile)
            }
        }
        return key
    }
}
