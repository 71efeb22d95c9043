/// How much of a symbol may be lost before it can't be read (ISO/IEC 18004, section 7.5.1).
public enum ErrorCorrection: Sendable, CaseIterable {
    /// Level L, about 7 %: the smallest symbol, for a screen that nobody scratches.
    case low
    /// Level M, about 15 %: for pictures that are printed or photographed.
    case medium

    /// The most bytes that a symbol of version 40 holds at this level (ISO/IEC 18004, table 7).
    public var capacity: Int {
        switch self {
        case .low: 2953
        case .medium: 2331
        }
    }
}
