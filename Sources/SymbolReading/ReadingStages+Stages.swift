import Raster

extension ReadingStages {
    /// Tries the stages: the first two for the whole page, the others until something is read.
    ///
    /// The stages and their order were measured on several thousand pictures: those that read the
    /// most for their time come first.
    mutating func climb(_ views: PictureViews) throws(SymbolReadingFailure) {
        let picture = views.brightness.inWorkingSize()
        // Finder patterns come first, although few pictures need this stage: the search takes a
        // fraction of the time that zbar takes for the whole picture, and also finds inverted
        // symbols.
        let side = min(picture.width, picture.height)
        let binary = picture.thresholdedByMean(radius: max(side / 16, 8))
        try rescue("finder patterns", picture, binary: binary)
        if !isFilled(picture) { try scan("unchanged", picture) }
        try attempt("inverted") { picture.inverted() }
        if let alpha = views.alpha, !isOver { try climb(alpha: alpha, views.brightness) }
        try climbThresholds(picture, side: side)
        try climbSizes(picture, side: side)
        if let full = isOver ? nil : views.fullSize() { try climb(fullSize: full) }
        if let colours = isOver ? nil : views.colours() { try climb(colours: colours) }
    }

    /// A white drawing on a transparent background is invisible on white.
    private mutating func climb(
        alpha: GrayImage, _ overWhite: GrayImage
    ) throws(SymbolReadingFailure) {
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

    private mutating func climbThresholds(
        _ picture: GrayImage, side: Int
    ) throws(SymbolReadingFailure) {
        let radius = max(side / 64, 3)
        if !isOver {
            let binary = picture.blurred(sigma: 1.5).thresholdedByMean(radius: max(side / 16, 8))
            try rescue("finder patterns, blurred", picture, binary: binary)
        }
        if !isOver {
            let binary = picture.thresholdedByMean(radius: max(side / 96, 6))
            try rescue("finder patterns, fine threshold", picture, binary: binary)
        }
        if max(picture.width, picture.height) > 1_000 {
            try attempt("at 1,000 pixels") { picture.reduced(longerSide: 1_000) }
        }
        try attempt("threshold") { picture.thresholdedByMean(radius: radius) }
        try attempt("blur") { picture.blurred(sigma: 2) }
        try attempt("blur and threshold") {
            picture.blurred(sigma: 2).thresholdedByMean(radius: radius)
        }
        try attempt("sharpened") {
            picture.sharpened(sigma: 4, amount: 2).thresholdedByMean(radius: radius)
        }
    }

    private mutating func climbSizes(
        _ picture: GrayImage, side: Int
    ) throws(SymbolReadingFailure) {
        let isSmall = picture.width * picture.height <= 1 << 19
        if isSmall {
            try attempt("enlarged threefold") {
                picture.enlarged(times: 3).thresholdedByMean(radius: max(side * 3 / 32, 3))
            }
        }
        let longer = max(picture.width, picture.height)
        for divisor in [2, 3] where longer / divisor > 20 {
            try attempt("at 1/\(divisor)") {
                picture.reduced(longerSide: longer / divisor)
                    .thresholdedByMean(radius: max(side / divisor / 64, 3))
            }
        }
        if isSmall {
            try attempt("framed, enlarged threefold") {
                picture.framed(by: 16, brightness: 255).enlarged(times: 3)
            }
        }
    }

    /// A photo whose symbol is too small at the size at which photos are read.
    private mutating func climb(fullSize: GrayImage) throws(SymbolReadingFailure) {
        // zbar takes about 20 ns per pixel and cannot be interrupted.
        guard fullSize.width * fullSize.height <= 16 << 20 else { return }
        let side = min(fullSize.width, fullSize.height)
        try rescue(
            "finder patterns at full size", fullSize,
            binary: fullSize.thresholdedByMean(radius: max(side / 64, 8)))
        try attempt("full size") { fullSize }
    }

    /// Separates two colours of equal brightness along the axis on which the colours differ most.
    private mutating func climb(colours: ColourImage) throws(SymbolReadingFailure) {
        let component = colours.principalComponent().inWorkingSize()
        try attempt("colours") { component }
        try attempt("colours, inverted") { component.inverted() }
    }

    private mutating func attempt(
        _ stage: String, _ picture: () -> GrayImage
    ) throws(SymbolReadingFailure) {
        if !isOver { try scan(stage, picture()) }
    }
}

extension GrayImage {
    /// The picture at the size at which it is read.
    fileprivate func inWorkingSize() -> GrayImage {
        reduced(longerSide: PictureViews.workingSide(width: width, height: height))
    }

    /// Replaces the white behind transparent parts with black.
    fileprivate func overBlack(alpha: GrayImage) -> GrayImage {
        let values = zip(pixels, alpha.pixels).map { over, cover in
            UInt8(clamping: Int(over) - (255 - Int(cover)))
        }
        return GrayImage(width: width, height: height, pixels: values)
    }
}
