internal import WatchwordCryptography

/// A text that is built from parts, some of which are secret.
struct SecretText {
    private var parts: [SecretBytes] = []

    /// The whole text.
    var bytes: SecretBytes { SecretBytes(joining: parts) }

    mutating func append(_ text: String) { append(SecretBytes(copying: Array(text.utf8).span)) }

    mutating func append(_ secret: SecretBytes) { parts.append(secret) }
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
