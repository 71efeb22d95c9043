public import POSIX

/// Reads every QR symbol in a picture.
///
/// - Parameters:
///   - views: The picture.
///   - deadline: When to give up: what is begun is finished, nothing more is tried. `nil` for never.
/// - Throws: ``SymbolReadingFailure`` when zbar itself can't work; not for a picture without symbol.
public func readSymbols(
    in views: PictureViews, until deadline: Moment? = nil
) throws(SymbolReadingFailure) -> SymbolReadingOutcome {
    var ladder = try Ladder(deadline: deadline)
    try ladder.climb(views)
    return SymbolReadingOutcome(symbols: ladder.texts, tried: ladder.tried)
}
