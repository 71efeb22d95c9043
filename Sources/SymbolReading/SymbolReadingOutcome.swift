/// What became of a picture: the texts of its symbols, and what was tried.
public struct SymbolReadingOutcome: Hashable, Sendable {
    /// The bytes of each symbol, each text once, in the order in which they were found.
    ///
    /// They may be keys. They lie in ordinary memory, because they are read in a process that does
    /// nothing else, is confined, and ends soon after.
    public let symbols: [[UInt8]]
    /// The names of the stages that were gone through, in order, for the person who asks why.
    public let tried: [String]
}
