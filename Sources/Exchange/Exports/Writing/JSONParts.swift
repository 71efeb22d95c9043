internal import WatchwordCryptography

// Parts that the JSON files of several apps have in common.

/// The tags of all entries, each with a random identifier.
struct TagIdentifiers {
    /// The tags in the order of their first use.
    let tags: [String]
    private let identifiers: [String: String]

    init(_ lists: [[String]]) {
        var tags: [String] = []
        var identifiers: [String: String] = [:]
        for tag in lists.joined() where identifiers[tag] == nil {
            tags.append(tag)
            identifiers[tag] = makeUniqueIdentifier()
        }
        self.tags = tags
        self.identifiers = identifiers
    }

    /// The identifier of one of the tags.
    subscript(tag: String) -> String { identifiers[tag] ?? "" }
}

/// The parts of a secret that was sealed with AES-256-GCM, as other programs store them.
struct GCMBox {
    let nonce: ArraySlice<UInt8>
    let ciphertext: [UInt8]
    let tag: ArraySlice<UInt8>

    private static let nonceCount = 12
    private static let tagCount = 16

    /// Seals `plaintext` under a key of 32 bytes, with a random nonce.
    init(sealing plaintext: SecretBytes, under key: SecretBytes) {
        let none: [UInt8] = []
        let box = SealingKey(key).seal(plaintext, associatedData: none.span)
        nonce = box.prefix(Self.nonceCount)
        ciphertext = Array(box.dropFirst(Self.nonceCount).dropLast(Self.tagCount))
        tag = box.suffix(Self.tagCount)
    }
}

/// Bytes that are not secret as lower-case hexadecimal digits.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    var text = ""
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] { text += String(digit, radix: 16) }
    }
    return text
}

/// A random UUID (RFC 9562, version 4).
func makeUniqueIdentifier() -> String {
    var bytes = Randomness.bytes(count: 16)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let digits = hexadecimal(bytes)
    var text = ""
    for (index, digit) in digits.enumerated() {
        if [8, 12, 16, 20].contains(index) { text += "-" }
        text.append(digit)
    }
    return text
}
