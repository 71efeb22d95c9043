import PictureReading
import Pictures
import QRDrawing

/// The libraries that are loaded for some formats, once.
private let libraries = Dictionary(
    uniqueKeysWithValues: ImageLibrary.allCases.map { library in
        guard let loaded = LoadedImageLibrary(library) else {
            preconditionFailure("install \(library.package)")
        }
        return (library, loaded)
    })

/// Decodes the bytes as an image file; an accepted image must be within the limits.
///
/// - Parameter library: the library to load; without it, images in its formats are refused.
func fuzzPicture(_ bytes: [UInt8], library: ImageLibrary? = nil) {
    // Small limits make more runs possible; larger limits would not reach other code.
    let limits = ImageLimits(bytes: 1 << 20, pixels: 1 << 18, side: 2048, frames: 3)
    do {
        let file = try EncodedImage(
            bytes, limits: limits, library: library.flatMap { libraries[$0] })
        // Drawn images have no pixels until they are drawn.
        let isDrawn = library == .librsvg || library == .poppler
        precondition(
            isDrawn || file.width * file.height <= limits.pixels, "a picture is within its limits")
        for index in 0..<file.frameCount {
            let frame = try file.frame(index)
            precondition(
                frame.alpha.map { $0.pixels.count == frame.brightness.pixels.count } ?? true,
                "the alpha channel has the same size")
            _ = try file.colours(index)
        }
    } catch {
        // Refusing the input is correct.
    }
}

/// Reads a symbol whose modules are inverted according to the bytes, or the bytes as pixels.
func fuzzSymbols(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let image =
        first & 1 == 0 ? spoiledSymbol(Array(bytes.dropFirst())) : pixels(Array(bytes.dropFirst()))
    guard let image else { return }
    do {
        _ = try readSymbols(in: PictureViews(brightness: image))
    } catch {
        preconditionFailure("zbar is out of memory")
    }
}

/// A valid symbol in which the modules whose bit is set in `mask` are inverted.
private func spoiledSymbol(_ mask: [UInt8]) -> GrayImage? {
    let text = Array("otpauth://totp/a?secret=MFRGG".utf8)
    guard let symbol = try? Symbol(encoding: text.span, correction: .low) else { return nil }
    let drawn = symbol.image(modulePixels: 1)
    let width = drawn.width
    var changed = drawn.pixels
    for (index, byte) in mask.enumerated() {
        for bit in 0..<8 where byte & (1 << bit) != 0 && index * 8 + bit < changed.count {
            changed[index * 8 + bit] ^= 255
        }
    }
    // Two pixels per module: zbar's finder needs more than one.
    var twice: [UInt8] = []
    for row in 0..<width * 2 {
        for column in 0..<width * 2 { twice.append(changed[row / 2 * width + column / 2]) }
    }
    return GrayImage(width: width * 2, height: width * 2, pixels: twice)
}

private func pixels(_ bytes: [UInt8]) -> GrayImage? {
    guard let first = bytes.first, first > 0, bytes.count > Int(first) else { return nil }
    let width = Int(first)
    let height = (bytes.count - 1) / width
    return GrayImage(width: width, height: height, pixels: Array(bytes[1...(width * height)]))
}
