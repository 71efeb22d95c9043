/// Reads Base32 character by character and records the deviations that it accepted.
struct Base32Reader {
    // An array is enough for the few deviations; a set would need an allocation for every key.
    private(set) var tolerances: [Base32Deviation] = []
    private var bits: UInt32 = 0
    private var held = 0
    private var characters = 0
    private var padding = 0

    /// Reads the character at `position`.
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
    /// Every character of Unicode's category of space separators counts: users cannot see which
    /// kind of space is at an end, or that there is one.
    public var hasSpaceAround: Bool {
        unicodeScalars.first?.isSpace ?? false || unicodeScalars.last?.isSpace ?? false
    }

    /// The text without spaces of any kind at its ends.
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
