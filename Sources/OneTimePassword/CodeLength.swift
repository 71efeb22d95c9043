/// How many decimal digits a code has.
///
/// RFC 4226, section 5.3 knows six to eight; services in the wild hand out others, and these are
/// taken here, too. ``isStandard`` tells them apart.
public struct CodeLength: Hashable, Sendable {
    /// Between 1 and 10, always.
    public let digits: Int

    /// Six digits, which nearly everybody uses.
    public static let six = CodeLength(checked: 6)
    /// Eight digits.
    public static let eight = CodeLength(checked: 8)

    /// Accepts 1 to 10.
    ///
    /// - Throws: ``CodeLengthError/unsupported(_:)`` for any other number.
    public init(digits: Int) throws(CodeLengthError) {
        guard (1...10).contains(digits) else { throw .unsupported(digits) }
        self.init(checked: digits)
    }

    private init(checked digits: Int) { self.digits = digits }

    /// Whether RFC 4226 allows it: six, seven or eight.
    public var isStandard: Bool { (6...8).contains(digits) }
}

/// Why a number is no code length.
public enum CodeLengthError: Error, Hashable, Sendable {
    /// Codes have 1 to 10 digits.
    case unsupported(Int)
}
