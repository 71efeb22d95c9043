/// Base64 with the alphabet for URLs and file names, without padding (RFC 4648, section 5).
public enum Base64URL {
    /// Writes bytes that may be seen.
    public static func encode(_ bytes: Span<UInt8>) -> String {
        var text = Base64.encode(bytes)
        while text.last == padding { text.removeLast() }
        for index in text.indices { text[index] = toURL(text[index]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Writes a secret, as text that is one, too.
    public static func encode(_ secret: SecretBytes) -> SecretBytes {
        Base64.encode(secret).withBytes { text in
            SecretBytes(capacity: text.count) { output in
                for index in text.indices where text[index] != padding {
                    output.append(toURL(text[index]))
                }
            }
        }
    }

    /// Reads text that may be seen.
    ///
    /// - Throws: ``Base64Error``; each text that is taken is the only one for its bytes.
    public static func decode(_ text: Span<UInt8>) throws(Base64Error) -> [UInt8] {
        let padded = try padded(text)
        return try padded.withBytes { padded throws(Base64Error) in try Base64.decode(padded) }
    }

    /// Reads text that stands for a secret.
    ///
    /// - Throws: ``Base64Error``; each text that is taken is the only one for its bytes.
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
