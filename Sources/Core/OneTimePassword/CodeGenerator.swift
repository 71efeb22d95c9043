public import WatchwordCryptography

/// Generates and checks codes under one key (RFC 4226, section 5), which is prepared once.
///
/// A code costs two compressions of the hash and no heap allocation.
public struct CodeGenerator: ~Copyable, Sendable {
    private let key: PreparedKey
    /// How the truncated number is converted to characters.
    public let style: CodeStyle

    /// Prepares `key`, which may have any length.
    public init(key: SecretBytes, algorithm: HashAlgorithm, style: CodeStyle) {
        self.key = PreparedKey(key, algorithm: algorithm)
        self.style = style
    }

    /// The code for a counter value or a time step.
    public func code(at movingFactor: UInt64) -> Code {
        style.code(from: key.truncatedCode(of: movingFactor))
    }

    /// A single code of a key that is used once: faster than preparing the key.
    public static func code(
        at movingFactor: UInt64, key: SecretBytes, algorithm: HashAlgorithm, style: CodeStyle
    ) -> Code {
        style.code(
            from: PreparedKey.truncatedCode(of: movingFactor, key: key, algorithm: algorithm))
    }

    /// Looks for `presented` in the window from `behind` before `around` to `ahead` after it.
    ///
    /// The whole window is searched, and every comparison takes the same time, whatever was
    /// presented. Moving factors below 0 and above 2^64 - 1 do not exist and are omitted. If two
    /// moving factors in the window share the code, the earlier one is returned.
    ///
    /// - Returns: the offset of the matching moving factor from `around`, or `nil`.
    public func match(
        _ presented: Span<UInt8>, around: UInt64, behind: Int, ahead: Int
    ) -> Int? {
        precondition(behind >= 0 && ahead >= 0, "behind and ahead are not negative")
        let wanted = Code(presented: presented)
        var found: UInt64 = 0
        var match = 0
        for offset in -behind...ahead {
            let distance = UInt64(offset.magnitude)
            let (factor, isOutside) =
                offset < 0
                ? around.subtractingReportingOverflow(distance)
                : around.addingReportingOverflow(distance)
            if isOutside { continue }
            let difference = code(at: factor).difference(from: wanted)
            // All ones for the first match, otherwise zero, without a branch.
            let isEqual = ~UInt64(
                bitPattern: Int64(bitPattern: difference | (0 &- difference)) >> 63)
            let takes = isEqual & ~found
            match |= offset & Int(truncatingIfNeeded: takes)
            found |= takes
        }
        return found == 0 ? nil : match
    }
}

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
