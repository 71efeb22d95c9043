/// How the truncated number is converted to characters.
public enum CodeStyle: Hashable, Sendable {
    /// Decimal digits (RFC 4226, section 5.3).
    case decimal(CodeLength)
    /// Five characters of Steam Guard's alphabet, which omits characters that are easily confused.
    case steam

    /// The number of characters in a code.
    public var length: Int {
        switch self {
        case .decimal(let length): length.digits
        case .steam: Self.steamLength
        }
    }

    /// The number of characters in a Steam Guard code.
    public static let steamLength = 5
}
