/// How the truncated number becomes characters.
public enum CodeStyle: Hashable, Sendable {
    /// Decimal digits (RFC 4226, section 5.3).
    case decimal(CodeLength)
    /// Five characters of Steam Guard's alphabet, which leaves out what is easily mistaken.
    case steam

    /// How many characters a code has.
    public var length: Int {
        switch self {
        case .decimal(let length): length.digits
        case .steam: Self.steamLength
        }
    }

    /// Characters of a Steam Guard code.
    public static let steamLength = 5
}
