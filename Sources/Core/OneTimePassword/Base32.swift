public import WatchwordCryptography

/// Base32 (RFC 4648, section 6), in which keys are printed and typed.
public enum Base32 {
    /// Whether text is padded with `=` to a multiple of eight characters.
    public enum Padding: Hashable, Sendable {
        /// As in RFC 4648.
        case required
        /// As in key URIs.
        case omitted
    }

    /// Decodes text strictly: capital letters, the digits 2 to 7, and exactly the required padding.
    ///
    /// - Throws: ``OneTimePasswordError/notBase32(at:)`` or ``OneTimePasswordError/notStrict(_:)``.
    public static func decode(
        _ text: Span<UInt8>, padding: Padding = .required
    ) throws(OneTimePasswordError) -> SecretBytes {
        let (secret, tolerances) = try decodeTolerantly(text, expecting: padding)
        guard let first = tolerances.first else { return secret }
        throw .notStrict(.key(first))
    }

    /// Decodes text as apps actually print it, and reports each deviation that it accepted.
    ///
    /// White space (ASCII only) and hyphens may be anywhere. The digits 0, 1 and 8 are never read
    /// as letters, because the letter would be a guess.
    ///
    /// - Parameter padding: the padding that is not reported as a deviation.
    /// - Returns: the bytes, and each deviation once, in the order of ``Base32Deviation``.
    /// - Throws: ``OneTimePasswordError/notBase32(at:)``.
    public static func decodeTolerantly(
        _ text: Span<UInt8>, expecting padding: Padding = .omitted
    ) throws(OneTimePasswordError) -> (secret: SecretBytes, tolerances: [Base32Deviation]) {
        var reader = Base32Reader()
        let secret = try SecretBytes(
            capacity: text.count / 8 * 5 + 5
        ) { output throws(OneTimePasswordError) in
            for index in text.indices {
                try reader.take(text[index], at: index, into: &output)
            }
            reader.end(expecting: padding)
        }
        return (secret, Base32Deviation.allCases.filter(reader.tolerances.contains))
    }

    /// Encodes a secret in capital letters.
    ///
    /// The text is also secret.
    public static func encode(
        _ secret: SecretBytes, padding: Padding = .omitted
    ) -> SecretBytes {
        SecretBytes(capacity: encodedCount(of: secret.count)) { output in
            encode(secret, padding: padding, into: &output)
        }
    }

    /// The number of characters for `count` bytes, including padding.
    static func encodedCount(of count: Int) -> Int { (count + 4) / 5 * 8 }

    /// Appends a secret in capital letters.
    static func encode(
        _ secret: SecretBytes, padding: Padding = .omitted, into output: inout OutputSpan<UInt8>
    ) {
        secret.withBytes { bytes in
            var bits: UInt64 = 0
            var held = 0
            var written = 0
            for index in bytes.indices {
                bits = bits << 8 | UInt64(bytes[index])
                held += 8
                while held >= 5 {
                    held -= 5
                    output.append(character(of: bits >> UInt64(held)))
                    written += 1
                }
            }
            if held > 0 {
                output.append(character(of: bits << UInt64(5 - held)))
                written += 1
            }
            guard padding == .required else { return }
            while !written.isMultiple(of: 8) {
                output.append(UInt8(ascii: "="))
                written += 1
            }
        }
    }

    /// The character for the lowest five bits.
    private static func character(of bits: UInt64) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: bits) & 31
        return value < 26 ? UInt8(ascii: "A") + value : UInt8(ascii: "2") + (value - 26)
    }
}

/// A deviation from Base32 that a tolerant reading accepts.
public enum Base32Deviation: CaseIterable, Hashable, Sendable {
    /// Lowercase letters, which are read as capitals.
    case lowerCase
    /// White space, which is ignored.
    case spaces
    /// Hyphens, which are ignored.
    case dashes
    /// Padding that is missing, superfluous or of the wrong length.
    case padding
    /// Unused bits after the last byte that are not zero; they are dropped.
    case nonzeroTrailingBits
    /// One, three or six characters after the last full group, the last of which encodes no byte.
    case strayCharacter
}

/// Reads Base32 character by character and records the deviations that it accepted.
struct Base32Reader {
    // An array is enough for the few deviations; a set would need an allocation for every key.
    private(set) var tolerances: [Base32Deviation] = []
    private var bits: UInt32 = 0
    private var held = 0
    private var characters = 0
    private var padding = 0

    mutating func take(
        _ character: UInt8, at position: Int, into output: inout OutputSpan<UInt8>
    ) throws(OneTimePasswordError) {
        let value: UInt8
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"):
            value = character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"):
            value = character - UInt8(ascii: "a")
            tolerate(.lowerCase)
        case UInt8(ascii: "2")...UInt8(ascii: "7"):
            value = character - UInt8(ascii: "2") + 26
        case UInt8(ascii: " "), 0x09...0x0d:
            tolerate(.spaces)
            return
        case UInt8(ascii: "-"):
            tolerate(.dashes)
            return
        case UInt8(ascii: "="):
            padding += 1
            return
        default:
            throw .notBase32(at: position)
        }
        guard padding == 0 else { throw .notBase32(at: position) }
        characters += 1
        bits = bits << 5 | UInt32(value)
        held += 5
        guard held >= 8 else { return }
        held -= 8
        output.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
    }

    private mutating func tolerate(_ tolerance: Base32Deviation) {
        if !tolerances.contains(tolerance) { tolerances.append(tolerance) }
    }

    /// Checks what remains at the end of the text.
    mutating func end(expecting expected: Base32.Padding) {
        // Five or more bits remain: a whole character encodes nothing.
        if held >= 5 {
            tolerate(.strayCharacter)
        } else if bits & (1 << UInt32(held) - 1) != 0 {
            tolerate(.nonzeroTrailingBits)
        }
        let rightPadding = expected == .omitted ? 0 : (8 - characters % 8) % 8
        if padding != rightPadding { tolerate(.padding) }
    }
}

extension String {
    /// Whether the text begins or ends with a space of any kind.
    ///
    /// Every character of Unicode's category of space separators counts: users cannot see a space
    /// at an end, or its kind.
    public var hasSpaceAround: Bool {
        unicodeScalars.first?.isSpace ?? false || unicodeScalars.last?.isSpace ?? false
    }

    /// The text without leading or trailing spaces of any kind.
    package var trimmed: String {
        let inner = unicodeScalars.drop(while: \.isSpace)
        guard let last = inner.lastIndex(where: { !$0.isSpace }) else { return "" }
        return String(inner[...last])
    }
}

extension Unicode.Scalar {
    fileprivate var isSpace: Bool {
        isASCII ? self == " " : properties.generalCategory == .spaceSeparator
    }
}
