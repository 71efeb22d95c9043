/// zbar could not be made to work, for want of memory.
public struct SymbolReadingFailure: Error, Hashable, Sendable {
    /// The call that failed.
    public let call: String
}
