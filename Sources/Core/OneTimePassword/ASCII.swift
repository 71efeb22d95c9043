extension Span where Element == UInt8 {
    /// Whether the bytes begin with `prefix`, which must be lowercase ASCII.
    package func hasPrefixIgnoringCase(_ prefix: String) -> Bool {
        guard count >= prefix.utf8.count else { return false }
        for (index, wanted) in prefix.utf8.enumerated()
        where self[index].asciiLowercased != wanted { return false }
        return true
    }

    /// Whether the bytes equal `word`, which must be lowercase ASCII.
    package func equalsIgnoringCase(_ word: String) -> Bool {
        count == word.utf8.count && hasPrefixIgnoringCase(word)
    }

    /// The first index of `byte` in `range`.
    package func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        range.first { self[$0] == byte }
    }
}

extension Span where Element == UInt8 {
    /// The range without ASCII white space at both ends.
    package var rangeWithoutSpaces: Range<Int> {
        var range = 0..<count
        while let first = range.first, self[first].isASCIISpace { range = (first + 1)..<count }
        while let last = range.last, self[last].isASCIISpace { range = range.lowerBound..<last }
        return range
    }

    /// Whether `%` and the two hexadecimal digits of `byte` are at `index`.
    func hasEncoded(_ byte: UInt8, at index: Int) -> Bool {
        index + 2 < count && self[index] == UInt8(ascii: "%")
            && self[index + 1].hexDigitValue == byte >> 4
            && self[index + 2].hexDigitValue == byte & 15
    }

    /// The first index, `start` or later, at which `byte` is percent-encoded.
    func firstEncoded(_ byte: UInt8, from start: Int) -> Int? {
        (start..<count).first { hasEncoded(byte, at: $0) }
    }
}

extension UInt8 {
    /// Whether the byte is a space, a tab or a line break.
    package var isASCIISpace: Bool { self == UInt8(ascii: " ") || (0x09...0x0d).contains(self) }

    /// The lowercase form of a capital letter; any other byte unchanged.
    var asciiLowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }

    /// The value of a hexadecimal digit.
    package var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension String {
    /// The text with ASCII capital letters in lower case.
    package var asciiLowercased: String {
        String(decoding: utf8.map(\.asciiLowercased), as: UTF8.self)
    }
}
