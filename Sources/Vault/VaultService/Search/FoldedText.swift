// The standard library's normalisation has no public interface, and loading Foundation would slow
// down every command.
@_spi(_Unicode) internal import Swift

/// A text without case and accents, for searching and sorting.
///
/// Composed and decomposed forms of a letter are equal.
package struct FoldedText: Hashable, Comparable {
    fileprivate let bytes: [UInt8]

    package init(_ text: String) {
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            bytes = text.utf8.map {
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0
            }
            return
        }
        let scalars = Array(text._nfd)
        let letters = scalars.filter { $0.properties.generalCategory != .nonspacingMark }
        // Keep the accents of a text that consists only of accents: otherwise, it would match every
        // text.
        var folded = ""
        for scalar in letters.isEmpty ? scalars : letters {
            if let plain = Self.plainLetters[scalar] {
                folded += plain
            } else {
                // “ß” and “SS” are equal, and so are the forms of sigma.
                for upper in scalar.properties.uppercaseMapping.unicodeScalars {
                    folded += upper.properties.lowercaseMapping
                }
            }
        }
        bytes = Array(folded.utf8)
    }

    /// Numbers are compared by their values, so that `2` precedes `10`.
    package static func < (left: FoldedText, right: FoldedText) -> Bool {
        var (rest, other) = (left.bytes[...], right.bytes[...])
        while let byte = rest.first, let otherByte = other.first {
            if byte.isDigit, otherByte.isDigit {
                let (number, otherNumber) = (Self.number(from: &rest), Self.number(from: &other))
                if number.count != otherNumber.count { return number.count < otherNumber.count }
                if number != otherNumber { return number.lexicographicallyPrecedes(otherNumber) }
            } else if byte != otherByte {
                return byte < otherByte
            } else {
                rest.removeFirst()
                other.removeFirst()
            }
        }
        if rest.isEmpty != other.isEmpty { return rest.isEmpty }
        // The texts differ at most in the leading zeros of numbers.
        return left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    /// Removes the number at the beginning, and returns its digits without leading zeros.
    private static func number(from bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let digits = bytes.prefix(while: \.isDigit)
        bytes = bytes[digits.endIndex...]
        return digits.drop { $0 == UInt8(ascii: "0") }
    }

    /// Whether `text` is equal to this one when it is folded.
    package func isEqual(toFolded text: String) -> Bool {
        // Folding does not change the length of an ASCII text.
        guard text.utf8.count == bytes.count || text.utf8.contains(where: { $0 >= 0x80 }) else {
            return false
        }
        return FoldedText(text) == self
    }

    /// Whether `word` occurs in the text.
    package func contains(_ word: FoldedWord) -> Bool { word.occurs(in: bytes) }

    /// Letters with strokes, and ligatures, which have no decomposition.
    private static let plainLetters: [Unicode.Scalar: String] = [
        "ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "đ": "d", "Đ": "d", "ħ": "h", "Ħ": "h",
        "ŧ": "t", "Ŧ": "t", "æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe",
    ]
}

extension UInt8 {
    /// Whether the byte is an ASCII digit.
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

/// A word to search for in many texts; each search takes linear time (Knuth, Morris and Pratt).
package struct FoldedWord {
    private let bytes: [UInt8]
    /// For each prefix of the word, the length of its longest proper suffix that is also a prefix
    /// of the word.
    private var borders = [0]

    package init(_ word: String) {
        bytes = FoldedText(word).bytes
        for byte in bytes.dropFirst() {
            borders.append(matched(borders[borders.count - 1], byte))
        }
    }

    fileprivate func occurs(in text: [UInt8]) -> Bool {
        guard !bytes.isEmpty else { return true }
        var count = 0
        return text.contains { byte in
            count = matched(count, byte)
            return count == bytes.count
        }
    }

    /// The number of bytes of the word that are matched after `byte`, if `count` bytes were matched
    /// before.
    private func matched(_ count: Int, _ byte: UInt8) -> Int {
        var count = count
        while count > 0, bytes[count] != byte { count = borders[count - 1] }
        return bytes[count] == byte ? count + 1 : 0
    }
}
