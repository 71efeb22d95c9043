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
    /// - Throws: ``Base64Error``. Exactly one text is accepted for each sequence of bytes.
    public static func decode(_ text: Span<UInt8>) throws(Base64Error) -> [UInt8] {
        let padded = try padded(text)
        return try padded.withBytes { padded throws(Base64Error) in try Base64.decode(padded) }
    }

    /// Decodes text that encodes a secret.
    ///
    /// - Throws: ``Base64Error``. Exactly one text is accepted for each sequence of bytes.
    public static func decodeSecret(_ text: Span<UInt8>) throws(Base64Error) -> SecretBytes {
        let padded = try padded(text)
        return try padded.withBytes { padded throws(Base64Error) in
            try Base64.decodeSecret(padded)
        }
    }

    private static let padding = UInt8(ascii: "=")

    private static func padded(_ text: Span<UInt8>) throws(Base64Error) -> SecretBytes {
        let missing = (4 - text.count % 4) % 4
        guard missing != 3 else { throw .length }
        return try SecretBytes(capacity: text.count + missing) { output throws(Base64Error) in
            for index in text.indices {
                switch text[index] {
                case UInt8(ascii: "-"): output.append(UInt8(ascii: "+"))
                case UInt8(ascii: "_"): output.append(UInt8(ascii: "/"))
                case UInt8(ascii: "+"), UInt8(ascii: "/"), padding: throw .character(at: index)
                default: output.append(text[index])
                }
            }
            for _ in 0..<missing { output.append(padding) }
        }
    }

    private static func toURL(_ character: UInt8) -> UInt8 {
        switch character {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: character
        }
    }
}
