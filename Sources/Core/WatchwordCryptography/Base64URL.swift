/// Base64 with the URL- and filename-safe alphabet, without padding (RFC 4648, section 5).
public enum Base64URL {
    /// Encodes bytes that are not secret.
    public static func encode(_ bytes: Span<UInt8>) -> String {
        var text = Base64.encode(bytes)
        while text.last == padding { text.removeLast() }
        for index in text.indices { text[index] = toURL(text[index]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Encodes a secret.
    ///
    /// The text is also secret.
    public static func encode(_ secret: SecretBytes) -> SecretBytes {
        Base64.encode(secret).withBytes { text in
            SecretBytes(capacity: text.count) { output in
                for index in text.indices where text[index] != padding {
                    output.append(toURL(text[index]))
                }
            }
        }
    }

    /// Decodes text that is not secret.
    ///
    /// - Throws: ``CryptographyError``. Exactly one text is accepted for each sequence of bytes.
    public static func decode(_ text: Span<UInt8>) throws(CryptographyError) -> [UInt8] {
        // Not the locked heap, which takes longer than the decoding of a short text.
        let padded = try [UInt8](capacity: paddedCount(text)) { output throws(CryptographyError) in
            try pad(text, into: &output)
        }
        return try Base64.decode(padded.span)
    }

    /// Decodes text that encodes a secret.
    ///
    /// - Throws: ``CryptographyError``. Exactly one text is accepted for each sequence of bytes.
    public static func decodeSecret(_ text: Span<UInt8>) throws(CryptographyError) -> SecretBytes {
        let padded = try SecretBytes(capacity: paddedCount(text)) {
            output throws(CryptographyError) in
            try pad(text, into: &output)
        }
        return try padded.withBytes { padded throws(CryptographyError) in
            try Base64.decodeSecret(padded)
        }
    }

    private static let padding = UInt8(ascii: "=")

    private static func paddedCount(_ text: Span<UInt8>) -> Int { (text.count + 3) / 4 * 4 }

    /// Converts the text to the standard alphabet, with padding.
    private static func pad(
        _ text: Span<UInt8>, into output: inout OutputSpan<UInt8>
    ) throws(CryptographyError) {
        let missing = paddedCount(text) - text.count
        guard missing != 3 else { throw .base64Length }
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "-"): output.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): output.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"), padding: throw .notBase64(at: index)
            default: output.append(text[index])
            }
        }
        for _ in 0..<missing { output.append(padding) }
    }

    private static func toURL(_ character: UInt8) -> UInt8 {
        switch character {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: character
        }
    }
}
