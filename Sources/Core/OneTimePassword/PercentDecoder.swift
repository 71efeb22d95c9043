/// Decodes percent-encoding (RFC 3986, section 2.1), and records what was not encoded correctly.
package struct PercentDecoder {
    /// How `+` is interpreted.
    package enum Plus {
        case itself, space
    }

    private let plus: Plus
    private(set) var hasRawSpace = false
    private(set) var hasRawNonASCII = false
    private(set) var hasRawHash = false
    private(set) var hasRawPercent = false
    private(set) var hasPlus = false

    package init(plus: Plus) { self.plus = plus }

    /// Appends the decoded text.
    ///
    /// `output` needs free space for as many bytes as `text` has.
    package mutating func decode(_ text: Span<UInt8>, into output: inout OutputSpan<UInt8>) {
        var index = 0
        while index < text.count {
            let byte = text[index]
            index += 1
            switch byte {
            case UInt8(ascii: "%"):
                guard index + 1 < text.count, let high = text[index].hexDigitValue,
                    let low = text[index + 1].hexDigitValue
                else {
                    hasRawPercent = true
                    break
                }
                index += 2
                output.append(high << 4 | low)
                continue
            case UInt8(ascii: "+"):
                hasPlus = true
                output.append(plus == .space ? UInt8(ascii: " ") : byte)
                continue
            case UInt8(ascii: " "): hasRawSpace = true
            case UInt8(ascii: "#"): hasRawHash = true
            case 0x80...: hasRawNonASCII = true
            default: break
            }
            output.append(byte)
        }
    }

    func warnings(for part: KeyURIPart) -> [KeyURIWarning] {
        var warnings: [KeyURIWarning] = []
        if hasRawSpace { warnings.append(.rawSpace(part)) }
        if hasRawNonASCII { warnings.append(.rawNonASCII(part)) }
        if hasRawHash { warnings.append(.rawHash(part)) }
        if hasRawPercent { warnings.append(.rawPercent(part)) }
        if hasPlus, plus == .space { warnings.append(.plusAsSpace(part)) }
        return warnings
    }
}
