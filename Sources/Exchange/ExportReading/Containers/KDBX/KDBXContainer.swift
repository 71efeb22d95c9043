internal import Exports
internal import OneTimePassword
internal import WatchwordCryptography
internal import WatchwordSystem

/// KeePass' database, KDBX 3 and 4.
///
/// Without its key file, a database cannot be distinguished from a database with a different
/// password.
enum KDBXContainer {
    /// The content of a database.
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
            // The file is not a key file of the XML format.
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

/// The authenticated blocks of a KDBX 4 file, and the hashed blocks of a KDBX 3 plaintext.
struct KDBXBlocks {
    private static let codeCount = 32

    private let header: SecretBytes
    private let headerCode: SecretBytes
    /// The code and the content of each block; the last one is empty.
    private var blocks: [(code: SecretBytes, content: SecretBytes)] = []

    /// Finds the blocks of version 4.
    ///
    /// - Parameter digest: The header's digest, which follows the header.
    init(
        authenticated file: SecretBytes, _ header: KDBXHeader, _ digest: SecretBytes
    ) throws(ExportError) {
        var parts = BinaryParts(file, .keePass, .littleEndian)
        self.header = try parts.take(header.count)
        guard try parts.take(digest.count) == digest else { throw .damaged(.keePass) }
        headerCode = try parts.take(Self.codeCount)
        while true {
            let code = try parts.take(Self.codeCount)
            let content = try parts.take(try parts.count())
            blocks.append((code, content))
            if content.count == 0 { break }
        }
    }

    /// Checks the codes of the header and of each block, and returns the joined contents.
    ///
    /// - Parameter key: The key from which each block's key is derived.
    func verified(_ key: SecretBytes) throws(ExportError) -> SecretBytes {
        let decryption = Decryption(.keePass)
        func verify(
            _ code: SecretBytes, index: UInt64, _ message: SecretBytes
        ) throws(ExportError) {
            let blockKey = decryption.digest(
                .sha512, of: SecretBytes(joining: [Self.bytes(of: index, count: 8), key]))
            try decryption.verify(code, .sha256, key: blockKey, of: message)
        }
        try verify(headerCode, index: .max, header)
        for (index, block) in blocks.enumerated() {
            let index = UInt64(index)
            let message = SecretBytes(
                joining: [
                    Self.bytes(of: index, count: 8),
                    Self.bytes(of: UInt64(block.content.count), count: 4), block.content,
                ])
            try verify(block.code, index: index, message)
        }
        return SecretBytes(joining: blocks.map(\.content))
    }

    /// Joins the blocks of version 3, which follow the start bytes.
    static func hashed(
        _ plaintext: SecretBytes, start: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        guard plaintext.count >= start.count, plaintext.part(0..<start.count) == start else {
            throw .wrongPassword(.keePass)
        }
        var parts = BinaryParts(plaintext, .keePass, .littleEndian)
        try parts.skip(start.count)
        var contents: [SecretBytes] = []
        while true {
            guard try parts.number(width: 4) == UInt64(contents.count) else {
                throw .damaged(.keePass)
            }
            let digest = try parts.take(codeCount)
            let content = try parts.take(try parts.count())
            // The last block is empty, and its digest zero.
            if content.count == 0 { break }
            guard Decryption(.keePass).digest(.sha256, of: content) == digest else {
                throw .damaged(.keePass)
            }
            contents.append(content)
        }
        return SecretBytes(joining: contents)
    }

    /// A number as `count` bytes, little-endian.
    private static func bytes(of number: UInt64, count: Int) -> SecretBytes {
        SecretBytes((0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) })
    }
}

/// The cipher of a KDBX file's content.
struct KDBXCipher {
    private enum Algorithm {
        case aes, twofish, chaCha20
    }

    private let algorithm: Algorithm
    private let vector: SecretBytes

    /// Recognises a cipher by its identifier.
    init(_ identifier: SecretBytes, vector: SecretBytes?) throws(ExportError) {
        switch identifier.encodedHex().decodedText() {
        case "31c1f2e6bf714350be5805216afc5aff": algorithm = .aes
        case "ad68f29f576f4bb9a36ad47af965346c": algorithm = .twofish
        case "d6038a2b8b6f4cb5a524339a31dbb59a": algorithm = .chaCha20
        default: throw .unreadable(.keePass, .unsupportedAlgorithm)
        }
        guard let vector, vector.count == (algorithm == .chaCha20 ? 12 : 16) else {
            throw .damaged(.keePass)
        }
        self.vector = vector
    }

    func decrypt(
        _ ciphertext: SecretBytes, _ key: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let decryption = Decryption(.keePass)
        switch algorithm {
        case .aes: return try decryption.openCBC(ciphertext, key: key, vector: vector)
        case .twofish: return try decryptTwofish(ciphertext, key)
        case .chaCha20:
            return try decryption.attempt {
                let stream = try vector.withBytes { try ChaCha20Stream(key: key, nonce: $0) }
                return try ciphertext.withBytes { try stream.apply(to: $0) }
            }
        }
    }

    private func decryptTwofish(
        _ ciphertext: SecretBytes, _ key: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let padded = try Decryption(.keePass).open(
            ciphertext, key: key, nonce: vector, with: decryptTwofishCBC)
        // PKCS #7 (RFC 5652, section 6.3).
        let paddingCount = padded.withBytes { padded in
            guard let last = padded.indices.last.map({ padded[$0] }), (1...16).contains(last),
                padded.indices.suffix(Int(last)).allSatisfy({ padded[$0] == last })
            else { return 0 }
            return Int(last)
        }
        guard paddingCount > 0 else { throw .wrongPassword(.keePass) }
        return padded.part(0..<(padded.count - paddingCount))
    }
}

/// The keystream that the protected values of a KDBX document share, in document order.
final class KDBXProtection {
    private enum Stream {
        case none
        case salsa20(Salsa20Stream)
        case chaCha20(ChaCha20Stream)
    }

    private static let salsa20Nonce: [UInt8] = [0xE8, 0x30, 0x09, 0x4B, 0x97, 0x20, 0x5D, 0x2A]
    private let stream: Stream

    /// Starts the keystream with the number that the file gives it.
    init(_ number: UInt64, key: SecretBytes) throws(ExportError) {
        let decryption = Decryption(.keePass)
        switch number {
        case 0: stream = .none
        case 2:
            let key = decryption.digest(.sha256, of: key)
            stream = try decryption.attempt {
                .salsa20(try Salsa20Stream(key: key, nonce: Self.salsa20Nonce.span))
            }
        case 3:
            let derived = decryption.digest(.sha512, of: key)
            stream = try decryption.attempt {
                .chaCha20(
                    try derived.part(32..<44).withBytes { nonce in
                        try ChaCha20Stream(key: derived.part(0..<32), nonce: nonce)
                    })
            }
        default: throw decryption.unsupported
        }
    }

    /// Decrypts the next protected value, which is Base64.
    ///
    /// A value that is not used must be decrypted as well, because the next value follows it in the
    /// keystream.
    func next(_ value: SecretBytes) throws(ExportError) -> SecretBytes {
        guard let bytes = value.decodedBase64Lines() else { throw .damaged(.keePass) }
        return try Decryption(.keePass).attempt {
            switch stream {
            case .none: bytes
            case .salsa20(let stream): try bytes.withBytes { try stream.apply(to: $0) }
            case .chaCha20(let stream): try bytes.withBytes { try stream.apply(to: $0) }
            }
        }
    }
}
