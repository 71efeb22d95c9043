import POSIX
import Raster

/// One picture's way from the cheap stages that read most pictures to the last resorts.
struct Ladder: ~Copyable {
    private let scanner: SymbolScanner
    private let deadline: Moment?
    /// The texts that were read, each once.
    private(set) var texts: [[UInt8]] = []
    /// The names of the stages gone through.
    private(set) var tried: [String] = []
    /// Where the symbols that were read lie in the picture as the first stages see it.
    private var outlines: [[Point]] = []

    init(deadline: Moment?) throws(SymbolReadingFailure) {
        scanner = try SymbolScanner()
        self.deadline = deadline
    }

    /// Whether to go no further: something was read, or time is up.
    var isOver: Bool { !texts.isEmpty || isLate }

    private var isLate: Bool { deadline.map { $0 < Moment.now } ?? false }

    /// Whether one symbol takes up the picture, so that there is no room for another beside it.
    func isFilled(_ picture: GrayImage) -> Bool {
        outlines.contains { outline in
            let across = outline.map(\.x)
            let down = outline.map(\.y)
            guard let left = across.min(), let right = across.max(), let top = down.min(),
                let bottom = down.max()
            else { return false }
            let strips = [
                left, Double(picture.width) - right, top, Double(picture.height) - bottom,
            ]
            // A margin is a fifth of the smallest symbol and less of a larger one; a symbol of 40
            // pixels would be the smallest ever seen, at two pixels a module.
            let room = max(40, (right - left) / 5)
            return strips.allSatisfy { $0 < room }
        }
    }

    /// Shows a picture to zbar.
    mutating func scan(_ stage: String, _ picture: GrayImage) throws(SymbolReadingFailure) {
        tried.append(stage)
        for symbol in try scanner.scan(picture) {
            take(symbol)
            // zbar tells a symbol's four corners, but promises nothing.
            if symbol.corners.count > 2 { outlines.append(symbol.corners) }
        }
    }

    /// Looks for finder patterns in a picture, and shows zbar what lies between them.
    ///
    /// - Parameters:
    ///   - picture: Of the size that the symbols already read were found in.
    ///   - binary: The same in black and white, for finding the patterns.
    mutating func rescue(
        _ stage: String, _ picture: GrayImage, binary: GrayImage
    ) throws(SymbolReadingFailure) {
        tried.append(stage)
        let rescue = FinderRescue(picture, binary: binary, outside: outlines)
        outlines += try rescue.show { (view) throws(SymbolReadingFailure) in
            let symbols = try scanner.scan(view)
            for symbol in symbols { take(symbol) }
            if symbols.isEmpty { return isLate ? .stopped : .notRead }
            return .read
        }
    }

    /// Two symbols of one text, or one seen by two stages, are one.
    private mutating func take(_ symbol: ScannedSymbol) {
        if !texts.contains(symbol.payload) { texts.append(symbol.payload) }
    }
}
