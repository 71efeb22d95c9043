internal import Glibc
public import Pictures
public import WatchwordSystem

/// Reads every QR symbol in a picture.
///
/// - Parameters:
///   - views: the picture.
///   - deadline: when to stop, in processor time of this process. The current stage is finished, and
///     no other is started. `nil` means no deadline.
/// - Throws: ``ImageFileError/outOfMemory`` if zbar itself fails; a picture without a symbol is not
///   an error.
public func readSymbols(
    in views: PictureViews, until deadline: ProcessorTime? = nil
) throws(ImageFileError) -> SymbolReadingOutcome {
    var stages = try ReadingStages(deadline: deadline)
    try stages.climb(views)
    return SymbolReadingOutcome(
        symbols: stages.texts, tried: stages.tried, ranOutOfTime: stages.ranOutOfTime)
}

/// The result of reading a picture: the texts of its symbols, and the stages that were tried.
public struct SymbolReadingOutcome: Hashable, Sendable {
    /// The bytes of each symbol, each text once, in the order in which they were found.
    ///
    /// They can be keys. They are kept in ordinary memory, because they are read in a confined
    /// process that does nothing else and ends soon after.
    public let symbols: [[UInt8]]
    /// The names of the stages that were tried, in order, for diagnostics.
    public let tried: [String]
    /// Whether stages were left out because the deadline had passed.
    public let ranOutOfTime: Bool
}

/// Loads the character converters that zbar would otherwise load from the file system when it reads
/// its first symbol.
///
/// A process calls this before it gives up access to the file system. The C library keeps a
/// converter loaded as long as one is open, so these are never closed.
public func prepareSymbolReading() {
    for name in converterNames {
        // If the system lacks a converter, it will not appear later either; zbar works without it.
        _ = unsafe iconv_open("UTF-8", name)
    }
}

/// The character sets that zbar uses (qrdectxt.c): those that it guesses, and those that a symbol
/// can declare (ECI 0 to 18, 20, 26).
private let converterNames =
    ["UTF-8", "SJIS", "BIG5", "CP437"] + (1...16).map { "ISO8859-\($0)" }
