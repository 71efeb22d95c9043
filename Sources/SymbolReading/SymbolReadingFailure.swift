/// A call into zbar failed, usually because memory ran out.
public struct SymbolReadingFailure: Error, Hashable, Sendable {
    /// The call that failed.
    public let call: String
}
