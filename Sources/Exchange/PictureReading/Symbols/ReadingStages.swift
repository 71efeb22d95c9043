internal import Pictures
import QRDrawing
import WatchwordSystem

/// Tries stages on one picture, from cheap ones that read most pictures to the last resorts.
struct ReadingStages: ~Copyable {
    private let scanner: SymbolScanner
    private let deadline: ProcessorTime?
    /// The texts that were read, each once.
    private(set) var texts: [[UInt8]] = []
    /// The names of the stages that were tried.
    private(set) var tried: [String] = []
    /// Whether a stage was left out or cut short because the deadline had passed.
    private(set) var ranOutOfTime = false
    /// The outlines of the symbols that were read, in the coordinates of the first stages.
    private(set) var outlines: [[Point]] = []
    /// Whether something that looks like a symbol could not be read.
    private(set) var missedSymbol = false

    init(deadline: ProcessorTime?) throws(ImageFileError) {
        scanner = try SymbolScanner()
        self.deadline = deadline
    }

    /// Whether something was read.
    var hasRead: Bool { !texts.isEmpty }

    /// Whether one symbol fills the picture, so that there is no space for another next to it.
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
            // The margin is a fifth of the side of the smallest symbol, and a smaller share of a
            // larger one. No symbol has been seen with fewer than 40 pixels per side, about two per
            // module.
            let room = max(40, (right - left) / 5)
            return strips.allSatisfy { $0 < room }
        }
    }

    /// Whether there is time for another stage.
    mutating func hasTime() -> Bool {
        if let deadline, deadline < .now { ranOutOfTime = true }
        return !ranOutOfTime
    }

    /// Scans a picture with zbar.
    mutating func scan(_ stage: String, _ picture: GrayImage) throws(ImageFileError) {
        tried.append(stage)
        for symbol in try scanner.scan(picture) {
            take(symbol)
            // zbar usually reports a symbol's four corners, but does not guarantee it.
            if symbol.corners.count > 2 { outlines.append(symbol.corners) }
        }
    }

    /// Looks for finder patterns in a picture, and scans the area between them with zbar.
    ///
    /// - Parameters:
    ///   - picture: a picture of the same content as those of the first stages.
    ///   - binary: the same picture in black and white, for finding the patterns.
    ///   - scale: its size as a multiple of the size in the first stages.
    mutating func search(
        _ stage: String, _ picture: GrayImage, binary: GrayImage, scale: Double = 1
    ) throws(ImageFileError) {
        tried.append(stage)
        let known = outlines.map { outline in outline.map { $0 * scale } }
        let search = FinderPatternSearch(picture, binary: binary, outside: known)
        let outcome = try search.show { (view) throws(ImageFileError) in
            // A view has at least three pixels per module.
            let symbols = try scanner.scan(view, lineStep: 2)
            for symbol in symbols { take(symbol) }
            if !symbols.isEmpty { return .read }
            return hasTime() ? .notRead : .stopped
        }
        outlines += outcome.outlines.map { outline in outline.map { $0 * (1 / scale) } }
        missedSymbol = missedSymbol || outcome.missedSymbol
    }

    /// Two symbols with the same text, or one symbol read in two stages, count once.
    private mutating func take(_ symbol: ScannedSymbol) {
        if !texts.contains(symbol.payload) { texts.append(symbol.payload) }
    }
}
