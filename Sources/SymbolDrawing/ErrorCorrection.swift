/// The share of a symbol that can be damaged without loss (ISO/IEC 18004, section 7.5.1).
public enum ErrorCorrection: Sendable, CaseIterable {
    /// Level L, about 7 %: the smallest symbol, for display on a screen.
    case low
    /// Level M, about 15 %: for pictures that are printed or photographed.
    case medium

    /// The maximum number of bytes in a symbol of version 40 at this level (ISO/IEC 18004, table
    /// 7).
    public var capacity: Int {
        switch self {
        case .low: 2953
        case .medium: 2331
        }
    }
}
