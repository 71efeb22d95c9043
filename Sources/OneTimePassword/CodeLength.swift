/// The number of decimal digits in a code.
///
/// RFC 4226, section 5.3 specifies six to eight. Some services use other lengths, which are
/// also accepted here; see ``isStandard``.
public struct CodeLength: Hashable, Sendable {
    /// From 1 to 10.
    public let digits: Int

    /// Six digits, which almost every service uses.
    public static let six = CodeLength(checked: 6)
    /// Eight digits.
    public static let eight = CodeLength(checked: 8)

    /// Accepts 1 to 10.
    ///
    /// - Throws: ``CredentialError/unsupportedLength(_:)`` for any other number.
    public init(digits: Int) throws(CredentialError) {
        guard (1...10).contains(digits) else { throw .unsupportedLength(digits) }
        self.init(checked: digits)
    }

    private init(checked digits: Int) { self.digits = digits }

    /// Whether RFC 4226 allows it: six, seven or eight.
    public var isStandard: Bool { (6...8).contains(digits) }
}
