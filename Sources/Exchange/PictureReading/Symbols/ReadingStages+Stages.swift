internal import Pictures
import QRDrawing

extension ReadingStages {
    /// Tries the stages until something is read, then looks for further symbols.
    ///
    /// The stages and their order were measured on several thousand pictures: those that read the
    /// most for their time come first.
    mutating func climb(_ views: PictureViews) throws(ImageFileError) {
        let picture = views.brightness.inWorkingSize()
        // Finder patterns come first: the search takes a fraction of the time that zbar takes for
        // the whole picture, and also finds inverted symbols.
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
        // Most pictures contain one symbol, or only symbols that are easy to read.
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
        // Such pictures seldom have a margin, because it would be invisible without a background.
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

    /// Other ways to turn the picture into black and white.
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

    /// The whole picture, filtered.
    ///
    /// A large picture is reduced first, because these stages are slow.
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
    /// The picture at the size at which it is read.
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
