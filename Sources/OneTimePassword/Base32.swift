public import Cryptography

/// Base32 (RFC 4648, section 6), the form in which keys are printed and typed.
public enum Base32 {
    /// Whether a text ends with `=` up to a multiple of eight characters.
    public enum Padding: Hashable, Sendable {
        /// As RFC 4648 writes it.
        case required
        /// As key URIs write it.
        case omitted
    }

    /// Reads a text strictly: capital letters, digits 2 to 7, and the one padding that belongs
    /// there.
    ///
    /// - Throws: ``Base32Error``.
    public static func decode(
        _ text: Span<UInt8>, padding: Padding = .required
    ) throws(Base32Error) -> SecretBytes {
        let (secret, tolerances) = try decodeTolerantly(text, expecting: padding)
        guard let first = tolerances.first else { return secret }
        throw .notStrict(first)
    }

    /// Reads a text as apps really print it, and names what had to be tolerated for it.
    ///
    /// Spaces are all of ASCII's white space and dashes are hyphens; they may stand anywhere.
    /// Digits 0, 1 and 8 are never taken for letters: which letter would be a guess.
    ///
    /// - Parameter padding: what is no tolerance.
    /// - Returns: the bytes, and each tolerance once, in the order of ``Base32Tolerance``.
    /// - Throws: ``Base32Error``.
    public static func decodeTolerantly(
        _ text: Span<UInt8>, expecting padding: Padding = .omitted
    ) throws(Base32Error) -> (secret: SecretBytes, tolerances: [Base32Tolerance]) {
        var reader = Base32Reader()
        let secret = try SecretBytes(
            capacity: text.count / 8 * 5 + 5
        ) { output throws(Base32Error) in
            for index in text.indices {
                try reader.take(text[index], at: index, into: &output)
            }
            reader.end(expecting: padding)
        }
        return (secret, Base32Tolerance.allCases.filter(reader.tolerances.contains))
    }

    /// Writes a secret in capital letters: text that is a secret, too.
    public static func encode(
        _ secret: SecretBytes, padding: Padding = .omitted
    ) -> SecretBytes {
        SecretBytes(capacity: encodedCount(of: secret.count)) { output in
            encode(secret, padding: padding, into: &output)
        }
    }

    /// How many characters `count` bytes need, padding included.
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

    /// The character of the lowest five bits.
    private static func character(of bits: UInt64) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: bits) & 31
        return value < 26 ? UInt8(ascii: "A") + value : UInt8(ascii: "2") + (value - 26)
    }
}

/// Why a text is not Base32: where, never what stands there.
public enum Base32Error: Error, Hashable, Sendable {
    /// A character outside the alphabet, or anything behind the padding.
    case character(at: Int)
    /// What a strict reading does not take.
    case notStrict(Base32Tolerance)
}

/// How a text strays from Base32 as it should be, and is understood all the same.
public enum Base32Tolerance: CaseIterable, Hashable, Sendable {
    /// Small letters.
    case lowerCase
    /// White space.
    case spaces
    /// Hyphens.
    case dashes
    /// Padding that is missing, superfluous or of the wrong length.
    case padding
    /// Bits behind the last byte that are not zero, which are dropped.
    case looseBits
    /// One, three or six characters behind the last full group, of which the last one stands for no
    /// byte.
    case strayCharacter
}
