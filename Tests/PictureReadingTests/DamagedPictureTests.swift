import PictureReading
import Pictures
import QRDrawing
import TestSupport
import Testing

@Suite struct DamagedPictureTests {
    @Test(
        "a truncated file is refused or reported as incomplete",
        arguments: [
            "gray-8.png", "colour-alpha-8-interlaced.png", "palette-4.png", "gray-alpha-16.png",
            "baseline.jpg", "progressive.jpg", "ycck.jpg", "lossy.webp", "lossless-alpha.webp",
            "animated-lossy.webp", "still.gif", "interlaced.gif", "animated.gif", "gray-lzw.tiff",
            "pages.tiff", "lossy.heic", "lossy.avif", "colour.bmp", "binary.ppm", "plain.pgm",
            "paper.svg",
        ])
    func truncated(name: String) throws {
        let vector = try FormatVector.named(name)
        let bytes = try vector.bytes()
        // The last bytes may be a checksum or padding that the decoder does not read.
        for length in stride(from: 0, to: bytes.count - 40, by: 7) {
            do throws(ImageFileError) {
                let image = try EncodedImage(Array(bytes.prefix(length)), library: vector.library)
                let frame = try image.frame(image.frameCount - 1)
                let isComplete = frame.isWhole && image.frameCount == vector.frames
                #expect(!isComplete, "\(length) of \(bytes.count) bytes")
                #expect(frame.brightness.pixels.count == image.width * image.height)
            } catch {
                let format = ImageFormat(rawValue: vector.format) ?? .png
                let isRefusal = error == .notAPicture || error == .damaged(format)
                #expect(isRefusal, "\(length) of \(bytes.count) bytes")
            }
        }
    }

    @Test("a damaged file never crashes the reader", arguments: try FormatVector.all())
    func spoiled(vector: FormatVector) throws {
        let bytes = try vector.bytes()
        // Drawn images are large.
        let count = vector.width > 99 ? 5 : 30
        for place in stride(from: 0, to: bytes.count, by: max(bytes.count / count, 1)) {
            var spoiled = bytes
            spoiled[place] ^= 0xFF
            do throws(ImageFileError) {
                let limits = ImageLimits(bytes: 1 << 20, pixels: 1 << 20, side: 4_096, frames: 20)
                let image = try EncodedImage(spoiled, limits: limits, library: vector.library)
                let frame = try image.frame()
                #expect(!frame.brightness.pixels.isEmpty)
                _ = try image.colours()
            } catch {
                #expect(error != .outOfMemory)
            }
        }
    }

    // The place of the pixels, the header's length and the palette's: little-endian, 4 bytes.
    @Test("a BMP file is refused if its headers are longer than the file", arguments: [10, 14, 46])
    func longHeader(place: Int) throws {
        let vector = try FormatVector.named("colour.bmp")
        var bytes = try vector.bytes()
        bytes[place + 3] = 0x7F
        let spoiled = bytes
        #expect(throws: ImageFileError.damaged(.bmp)) {
            _ = try EncodedImage(spoiled, library: vector.library)
        }
    }
}
