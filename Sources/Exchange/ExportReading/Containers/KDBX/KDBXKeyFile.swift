internal import Exports
internal import OneTimePassword
internal import WatchwordCryptography

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

extension SecretBytes {
    fileprivate var withoutSpaces: SecretBytes {
        withBytes { bytes in
            SecretBytes(capacity: bytes.count) { output in
                for index in bytes.indices where !bytes[index].isASCIISpace {
                    output.append(bytes[index])
                }
            }
        }
    }
}
