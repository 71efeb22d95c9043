public import POSIX

/// Reads every QR symbol in a picture.
///
/// - Parameters:
///   - views: the picture.
///   - deadline: when to stop: the current stage is finished, and no other is started. `nil` for no
///     deadline.
/// - Throws: ``SymbolReadingFailure`` if zbar itself fails; a picture without a symbol is not an
///   error.
public func readSymbols(
    in views: PictureViews, until deadline: Moment? = nil
) throws(SymbolReadingFailure) -> SymbolReadingOutcome {
    var ladder = try ReadingStages(deadline: deadline)
    try ladder.climb(views)
    return SymbolReadingOutcome(symbols: ladder.texts, tried: ladder.tried)
}
