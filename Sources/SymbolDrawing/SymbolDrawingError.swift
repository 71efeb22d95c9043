/// Why a text could not be drawn as a symbol.
public enum SymbolDrawingError: Error, Equatable {
    /// The text is empty.
    case empty
    /// The text is longer than `limit`, the number of bytes that the largest symbol holds.
    case tooLong(limit: Int)
    /// The library with this name is not installed.
    case libraryMissing(String)
    /// libqrencode failed with this `errno`, for example because memory ran out.
    case libraryFailed(errno: Int32)
}
