internal import Exports
internal import WatchwordCryptography
internal import WatchwordSystem

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

    /// A number, little-endian.
    private static func bytes(of number: UInt64, count: Int) -> SecretBytes {
        SecretBytes((0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) })
    }
}
