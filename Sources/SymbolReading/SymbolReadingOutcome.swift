/// The result of reading a picture: the texts of its symbols, and the stages that were tried.
public struct SymbolReadingOutcome: Hashable, Sendable {
    /// The bytes of each symbol, each text once, in the order in which they were found.
    ///
    /// They can be keys. They are kept in ordinary memory, because they are read in a confined
    /// process that does nothing else and ends soon after.
    public let symbols: [[UInt8]]
    /// The names of the stages that were tried, in order, for diagnostics.
    public let tried: [String]
}
