internal import Pictures
import QRDrawing
import WatchwordSystem

/// Tries stages on one image, from cheap stages that read most images to the last resorts.
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

    var hasRead: Bool { !texts.isEmpty }

    /// Whether one symbol fills the image, so that there is no space for another next to it.
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
            // larger symbol. No symbol has been seen with fewer than 40 pixels per side, about two
            // per module.
            let room = max(40, (right - left) / 5)
            return strips.allSatisfy { $0 < room }
        }
    }

    /// Whether there is time for another stage.
    mutating func hasTime() -> Bool {
        if let deadline, deadline < .now { ranOutOfTime = true }
        return !ranOutOfTime
    }

    /// Scans an image with zbar.
    mutating func scan(_ stage: String, _ picture: GrayImage) throws(ImageFileError) {
        tried.append(stage)
        for symbol in try scanner.scan(picture) {
            take(symbol)
            // zbar usually reports a symbol's four corners, but does not guarantee it.
            if symbol.corners.count > 2 { outlines.append(symbol.corners) }
        }
    }

    /// Looks for finder patterns in an image, and scans the area between them with zbar.
    ///
    /// - Parameters:
    ///   - picture: an image of the same content as those of the first stages.
    ///   - binary: the same image in black and white, for finding the patterns.
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

extension ReadingStages {
    /// Tries the stages until something is read, then looks for further symbols.
    ///
    /// The stages and their order were measured on several thousand images: stages that read the
    /// most for their time come first.
    mutating func climb(_ views: PictureViews) throws(ImageFileError) {
        let picture = views.brightness.inWorkingSize()
        // Finder patterns come first: the search takes a fraction of the time that zbar takes for
        // the whole image, and also finds inverted symbols.
        try search("finder patterns", picture, binary: picture.thresholdedCoarsely())
        if !hasRead { try scan("unchanged", picture) }
        if hasRead { return try climb(rest: views, picture) }
        if let alpha = views.alpha { try climb(alpha: alpha, views.brightness) }
        try climbFinderPatterns(picture)
        try climbFilters(picture)
        if let full = hasRead ? nil : views.enlarged(picture) {
            try searchFullSize(full, comparedTo: picture)
        }
        if let colours = mayContinue() ? views.colours() : nil { try climb(colours: colours) }
    }

    /// Looks for further symbols outside those that were read.
    private mutating func climb(
        rest views: PictureViews, _ picture: GrayImage
    ) throws(ImageFileError) {
        guard !isFilled(picture), hasTime() else { return }
        let count = texts.count
        try searchFinely(picture)
        // Most images contain one symbol, or only symbols that are easy to read.
        let mayHaveMore = missedSymbol || texts.count > count
        if mayHaveMore, !tried.contains("unchanged"), hasTime() {
            try scan("unchanged", picture)
        }
        if mayHaveMore || texts.count > 1, hasTime(), let full = views.enlarged(picture) {
            try searchFullSize(full, comparedTo: picture)
        }
    }

    /// A white drawing on a transparent background is invisible on white.
    private mutating func climb(
        alpha: GrayImage, _ overWhite: GrayImage
    ) throws(ImageFileError) {
        let shape = alpha.inWorkingSize()
        // Such images seldom have a margin, because it would be invisible without a background.
        let margin = max(shape.width, shape.height) / 10 + 8
        try attempt("alpha channel, inverted") {
            shape.framed(by: margin, brightness: 0).inverted()
        }
        try attempt("alpha channel") { shape.framed(by: margin, brightness: 255) }
        try attempt("over black") { overWhite.overBlack(alpha: alpha).inWorkingSize() }
        try attempt("over black, inverted") {
            overWhite.overBlack(alpha: alpha).inWorkingSize().inverted()
        }
    }

    /// Other ways to turn the image into black and white.
    private mutating func climbFinderPatterns(_ picture: GrayImage) throws(ImageFileError) {
        if mayContinue() {
            try search(
                "finder patterns, blurred", picture,
                binary: picture.blurred(sigma: 1.5).thresholdedCoarsely())
        }
        if mayContinue() { try searchFinely(picture) }
        if picture.width * picture.height <= 1 << 20, mayContinue() {
            let radius = max(min(picture.width, picture.height) / 40, 6)
            try search(
                "finder patterns, medium threshold", picture,
                binary: picture.thresholdedByMean(radius: radius))
        }
    }

    /// The whole image, filtered.
    ///
    /// A large image is reduced first, because these stages are slow.
    private mutating func climbFilters(_ whole: GrayImage) throws(ImageFileError) {
        guard mayContinue() else { return }
        let picture = whole.reduced(longerSide: 1_000)
        let side = min(picture.width, picture.height)
        try attempt("inverted") { picture.inverted() }
        if picture.width < whole.width { try attempt("at 1,000 pixels") { picture } }
        try attempt("blur") { picture.blurred(sigma: 2) }
        if picture.width * picture.height <= 1 << 17 {
            try attempt("enlarged threefold") {
                picture.enlarged(times: 3).thresholdedByMean(radius: max(side * 3 / 32, 3))
            }
        }
    }

    private mutating func searchFinely(_ picture: GrayImage) throws(ImageFileError) {
        let side = min(picture.width, picture.height)
        try search(
            "finder patterns, fine threshold", picture,
            binary: picture.thresholdedByMean(radius: max(side / 96, 6)))
    }

    /// A photo whose symbol is too small at the size at which photos are read.
    private mutating func searchFullSize(
        _ full: GrayImage, comparedTo picture: GrayImage
    ) throws(ImageFileError) {
        guard hasTime() else { return }
        let side = min(full.width, full.height)
        try search(
            "finder patterns at full size", full,
            binary: full.thresholdedByMean(radius: max(side / 96, 8)),
            scale: Double(full.width) / Double(picture.width))
    }

    /// Separates two colours of equal brightness along the axis on which the colours differ most.
    private mutating func climb(colours: ColourImage) throws(ImageFileError) {
        let component = colours.principalComponent().inWorkingSize()
        try search(
            "finder patterns in colours", component, binary: component.thresholdedCoarsely())
        try attempt("colours") { component }
    }

    /// Whether to try another stage: nothing was read, and there is time.
    private mutating func mayContinue() -> Bool { !hasRead && hasTime() }

    private mutating func attempt(
        _ stage: String, _ picture: () -> GrayImage
    ) throws(ImageFileError) {
        if mayContinue() { try scan(stage, picture()) }
    }
}

extension PictureViews {
    /// The brightness at full size, if that is larger than `picture`.
    fileprivate func enlarged(_ picture: GrayImage) -> GrayImage? {
        let whole = brightness.width > picture.width ? brightness : fullSize()
        return whole.flatMap { $0.width > picture.width ? $0 : nil }
    }
}

extension GrayImage {
    /// The image at the size at which it is read.
    fileprivate func inWorkingSize() -> GrayImage {
        reduced(longerSide: PictureViews.workingSide(width: width, height: height))
    }

    /// Black and white, with a threshold that adapts to the light but not to single modules.
    fileprivate func thresholdedCoarsely() -> GrayImage {
        thresholdedByMean(radius: max(min(width, height) / 16, 8))
    }

    /// Replaces the white behind transparent parts with black.
    fileprivate func overBlack(alpha: GrayImage) -> GrayImage {
        let values = zip(pixels, alpha.pixels).map { over, cover in
            UInt8(clamping: Int(over) - (255 - Int(cover)))
        }
        return GrayImage(width: width, height: height, pixels: values)
    }
}
