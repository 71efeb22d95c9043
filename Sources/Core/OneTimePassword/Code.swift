/// A one-time code: up to ten ASCII characters, kept without a heap allocation.
///
/// It is a short-lived secret and has no description; callers that may display it write its
/// characters.
public struct Code: Sendable {
    /// The number of characters, from 1 to 10; any number in a code that somebody presented.
    public let count: Int
    /// The first eight characters, the first one in the lowest byte, padded with zeros.
    let first: UInt64
    /// The ninth and tenth characters, stored in the same way.
    let rest: UInt64

    /// The length of the longest possible code.
    public static let maximumCount = 10

    init(first: UInt64, rest: UInt64 = 0, count: Int) {
        self.first = first
        self.rest = rest
        self.count = count
    }

    /// Reads a code that somebody presented.
    ///
    /// Input that is too long does not equal any code.
    init(presented: Span<UInt8>) {
        var first: UInt64 = 0
        var rest: UInt64 = 0
        for index in 0..<min(presented.count, Self.maximumCount) {
            let character = UInt64(presented[index])
            if index < 8 {
                first |= character << UInt64(8 * index)
            } else {
                rest |= character << UInt64(8 * (index - 8))
            }
        }
        self.init(first: first, rest: rest, count: presented.count)
    }

    private subscript(index: Int) -> UInt8 {
        let half = index < 8 ? first : rest
        return UInt8(truncatingIfNeeded: half >> UInt64(8 * (index & 7)))
    }

    /// Appends the characters, as ASCII.
    public func write(into output: inout OutputSpan<UInt8>) {
        for index in 0..<count { output.append(self[index]) }
    }

    /// Writes the characters, as ASCII, to the beginning of `output`, where they must fit.
    ///
    /// - Returns: the number of characters written.
    @discardableResult public func write(into output: inout MutableSpan<UInt8>) -> Int {
        // For the usual lengths the loop is unrolled and its stores are merged.
        switch count {
        case 6: write(6, into: &output)
        case 8: write(8, into: &output)
        default: for index in 0..<count { output[index] = self[index] }
        }
        return count
    }

    @inline(__always) private func write(_ known: Int, into output: inout MutableSpan<UInt8>) {
        precondition(output.count >= known, "the code fits into the output")
        for index in 0..<known {
            output[index] = UInt8(truncatingIfNeeded: first &>> UInt64(8 &* index))
        }
    }

    /// The characters as text, for display: a copy of the secret that the caller is responsible
    /// for.
    public var text: String {
        var text = ""
        for index in 0..<count { text.unicodeScalars.append(Unicode.Scalar(self[index])) }
        return text
    }

    /// Compares two codes in constant time.
    public static func == (left: Code, right: Code) -> Bool { left.difference(from: right) == 0 }

    /// Returns zero if the characters are the same.
    ///
    /// The time taken does not depend on them.
    @inline(__always) func difference(from other: Code) -> UInt64 {
        (first ^ other.first) | (rest ^ other.rest)
            | UInt64(truncatingIfNeeded: count ^ other.count)
    }
}
