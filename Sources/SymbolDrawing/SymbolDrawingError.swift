/// Why there is no symbol for a text.
public enum SymbolDrawingError: Error, Equatable {
    /// There is nothing to draw.
    case empty
    /// The text is longer than the `limit` in bytes that the largest symbol holds.
    case tooLong(limit: Int)
    /// The system has no library of this name.
    case libraryMissing(String)
    /// libqrencode failed for a reason of its own (`errno`), such as no memory.
    case libraryFailed(errno: Int32)
}
