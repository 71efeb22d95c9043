internal import ImageFile
internal import POSIX
internal import PictureReader
internal import Raster
internal import SymbolReading

/// Reads a picture file's symbols: the one place where strangers' pictures are decoded.
///
/// It gives up well before the caller's timeout, so that it can report what it tried.
func findSymbols(in bytes: [UInt8]) -> PictureFinding {
    do throws(ImageFileError) {
        return try findSymbols(in: EncodedImage(bytes), until: .now + .seconds(3))
    } catch {
        return PictureFinding(error)
    }
}

private func findSymbols(
    in image: EncodedImage, until deadline: Moment
) throws(ImageFileError) -> PictureFinding {
    let side = PictureViews.workingSide(width: image.width, height: image.height)
    var symbols: [[UInt8]] = []
    var tried: [String] = []
    var isWhole = true
    for index in 0..<image.frameCount {
        let frame = try image.frame(index, longerSide: side)
        isWhole = isWhole && frame.isWhole
        // The last resorts do without what cannot be decoded a second time.
        let views = PictureViews(
            brightness: frame.brightness, alpha: frame.alpha,
            colours: { Result { try image.colours(index, longerSide: side) }.value ?? nil },
            fullSize: { Result { try image.frame(index).brightness }.value })
        do throws(SymbolReadingFailure) {
            let outcome = try readSymbols(in: views, until: deadline)
            // An animation shows most of its symbols in more than one frame.
            symbols += outcome.symbols.filter { !symbols.contains($0) }
            tried += outcome.tried.filter { !tried.contains($0) }
        } catch {
            return .outOfMemory
        }
    }
    // What is missing from a broken file may have been the symbol.
    guard isWhole || !symbols.isEmpty else { return .damaged }
    return .symbols(symbols, tried: tried)
}

extension Result {
    /// What came of it, if it came to anything.
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
            case .tooLarge(.bytes, _, _): .tooLarge(.bytes)
            case .tooLarge(.pixels, _, _): .tooLarge(.pixels)
            case .tooLarge(.side, _, _): .tooLarge(.side)
            case .tooLarge(.frames, _, _): .tooLarge(.frames)
            case .damaged: .damaged
            case .outOfMemory: .outOfMemory
            }
    }
}
