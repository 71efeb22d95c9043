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
