/// Strict Base64 with the standard alphabet and padding (RFC 4648, section 4).
///
/// The tables are indexed by the data, so cache timing can leak it. The secrets encoded here are
/// written to a file or a screen in the same form anyway.
public enum Base64 {
    /// The length of the encoding of `count` bytes.
    public static func encodedCount(of count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Encodes bytes that are not secret.
    public static func encode(_ bytes: Span<UInt8>) -> [UInt8] {
        [UInt8](capacity: encodedCount(of: bytes.count)) { output in encode(bytes, into: &output) }
    }

    /// Encodes a secret.
    ///
    /// The text is also secret.
    public static func encode(_ secret: SecretBytes) -> SecretBytes {
        secret.withBytes { bytes in
            SecretBytes(capacity: encodedCount(of: bytes.count)) { output in
                encode(bytes, into: &output)
            }
        }
    }

    /// Decodes text that is not secret.
    public static func decode(_ text: Span<UInt8>) throws(CryptographyError) -> [UInt8] {
        try [UInt8](capacity: text.count / 4 * 3) { output throws(CryptographyError) in
            try decode(text, into: &output)
        }
    }

    /// Decodes text that encodes a secret.
    public static func decodeSecret(_ text: Span<UInt8>) throws(CryptographyError) -> SecretBytes {
        try SecretBytes(capacity: text.count / 4 * 3) { output throws(CryptographyError) in
            try decode(text, into: &output)
        }
    }

    private static func encode(_ bytes: Span<UInt8>, into output: inout OutputSpan<UInt8>) {
        var index = 0
        while index < bytes.count {
            let taken = min(3, bytes.count - index)
            var group: UInt32 = 0
            for offset in 0..<3 {
                group = group << 8 | (offset < taken ? UInt32(bytes[index + offset]) : 0)
            }
            for offset in 0..<4 {
                let sextet = UInt8(truncatingIfNeeded: group >> UInt32(18 - 6 * offset)) & 63
                output.append(offset <= taken ? character(of: sextet) : UInt8(ascii: "="))
            }
            index += 3
        }
    }

    private static func decode(
        _ text: Span<UInt8>, into output: inout OutputSpan<UInt8>
    ) throws(CryptographyError) {
        guard text.count.isMultiple(of: 4) else { throw .base64Length }
        var index = decodeFullGroups(text, into: &output)
        while index < text.count {
            let isLast = index + 4 == text.count
            var padding = 0
            if isLast, text[index + 3] == UInt8(ascii: "=") {
                padding = text[index + 2] == UInt8(ascii: "=") ? 2 : 1
            }
            var group: UInt32 = 0
            for offset in 0..<4 {
                if offset >= 4 - padding {
                    group <<= 6
                    continue
                }
                guard let sextet = value(of: text[index + offset]) else {
                    throw .notBase64(at: index + offset)
                }
                group = group << 6 | UInt32(sextet)
            }
            // Unused bits must be zero; otherwise two texts would decode to the same bytes.
            guard group & (UInt32(1) << UInt32(8 * padding) - 1) == 0 else {
                throw .nonzeroTrailingBits
            }
            for offset in 0..<(3 - padding) {
                output.append(UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * offset)))
            }
            index += 4
        }
    }

    // A vault's list can be megabytes long, so groups without padding are decoded without checking
    // each character separately. Stops before the last group, and before a group with an invalid
    // character.
    private static func decodeFullGroups(
        _ text: Span<UInt8>, into output: inout OutputSpan<UInt8>
    ) -> Int {
        let values = values.span
        var index = 0
        while index + 4 < text.count {
            let first = UInt32(values[Int(text[index])])
            let second = UInt32(values[Int(text[index + 1])])
            let third = UInt32(values[Int(text[index + 2])])
            let fourth = UInt32(values[Int(text[index + 3])])
            guard first | second | third | fourth < 64 else { break }
            let group = first << 18 | second << 12 | third << 6 | fourth
            output.append(UInt8(truncatingIfNeeded: group >> 16))
            output.append(UInt8(truncatingIfNeeded: group >> 8))
            output.append(UInt8(truncatingIfNeeded: group))
            index += 4
        }
        return index
    }

    // The value of each character; 255 for characters outside the alphabet.
    private static let values: [UInt8] = (0...255).map { value(of: $0) ?? 255 }

    private static func character(of sextet: UInt8) -> UInt8 {
        switch sextet {
        case 0..<26: UInt8(ascii: "A") + sextet
        case 26..<52: UInt8(ascii: "a") + (sextet - 26)
        case 52..<62: UInt8(ascii: "0") + (sextet - 52)
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
    }

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

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
