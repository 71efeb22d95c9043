internal import PictureReading
internal import Pictures
internal import QRDrawing
internal import WatchwordSystem

/// Reads the symbols in an image file.
///
/// This is the only place where untrusted images are decoded.
///
/// It spends at most three seconds of processor time on each frame, and 20 seconds on all of them.
/// Processor time does not depend on how busy the machine is. If a drawing takes more than
/// ``drawingSeconds``, the process ends.
func findSymbols(in bytes: [UInt8], library: LoadedImageLibrary?) -> PictureFinding {
    do throws(ImageFileError) {
        return try findSymbols(in: Drawing(bytes, library), until: .now + .seconds(20))
    } catch {
        return PictureFinding(error)
    }
}

/// The processor time that drawing a page or a picture may take, in seconds.
private let drawingSeconds = 5

/// A picture whose decoding takes limited processor time.
private struct Drawing {
    private let image: EncodedImage
    private let isDrawn: Bool

    init(_ bytes: [UInt8], _ library: LoadedImageLibrary?) throws(ImageFileError) {
        isDrawn = library?.isDrawing ?? false
        image = try Self.decoded(isDrawn) { () throws(ImageFileError) in
            try EncodedImage(bytes, library: library)
        }
    }

    var width: Int { image.width }
    var height: Int { image.height }
    var frameCount: Int { image.frameCount }

    func frame(_ index: Int, longerSide: Int = .max) throws(ImageFileError) -> ImageFrame {
        try Self.decoded(isDrawn) { () throws(ImageFileError) in
            try image.frame(index, longerSide: longerSide)
        }
    }

    func colours(_ index: Int, longerSide: Int) throws(ImageFileError) -> ColourImage? {
        try Self.decoded(isDrawn) { () throws(ImageFileError) in
            try image.colours(index, longerSide: longerSide)
        }
    }

    private static func decoded<Result>(
        _ isDrawn: Bool, _ body: () throws(ImageFileError) -> Result
    ) throws(ImageFileError) -> Result {
        guard isDrawn else { return try body() }
        return try ProcessorTime.limited(to: drawingSeconds, body)
    }
}

private func findSymbols(
    in image: Drawing, until deadline: ProcessorTime
) throws(ImageFileError) -> PictureFinding {
    let side = PictureViews.workingSide(width: image.width, height: image.height)
    var symbols: [[UInt8]] = []
    var tried: [String] = []
    var isWhole = true
    var ranOutOfTime = false
    for index in 0..<image.frameCount {
        guard ProcessorTime.now < deadline else {
            ranOutOfTime = true
            break
        }
        let frame = try image.frame(index, longerSide: side)
        isWhole = isWhole && frame.isWhole
        let isReduced = frame.brightness.width < image.width
        // The fallback views are skipped if the picture cannot be decoded again.
        let views = PictureViews(
            brightness: frame.brightness, alpha: frame.alpha,
            colours: { Result { try image.colours(index, longerSide: side) }.value ?? nil },
            fullSize: { isReduced ? Result { try image.frame(index).brightness }.value : nil })
        let outcome = try readSymbols(in: views, until: min(deadline, .now + .seconds(3)))
        // Most symbols of an animation appear in several frames.
        symbols += outcome.symbols.filter { !symbols.contains($0) }
        tried += outcome.tried.filter { !tried.contains($0) }
        ranOutOfTime = ranOutOfTime || outcome.ranOutOfTime
    }
    // The missing part of a damaged file may have contained the symbol.
    guard isWhole || !symbols.isEmpty else { return .damaged }
    guard !ranOutOfTime || !symbols.isEmpty else { return .outOfTime }
    return .symbols(symbols, tried: tried)
}

extension Result {
    /// The success value; `nil` for a failure.
    fileprivate var value: Success? {
        if case .success(let value) = self { value } else { nil }
    }
}

extension PictureFinding {
    fileprivate init(_ error: ImageFileError) {
        self =
            switch error {
            case .notAPicture: .notAPicture
            case .unsupported(let format): .unsupported(format: format.rawValue)
            case .libraryMissing(let format): .libraryMissing(format)
            case .tooLarge(let limit, _, _): .tooLarge(limit)
            case .damaged: .damaged
            case .encrypted: .encrypted
            case .outOfMemory: .outOfMemory
            }
    }
}
