import PictureReading
import Pictures
import TestSupport
import Testing

@Suite struct ImageLimitsTests {
    @Test("a PNG of 65,500 × 65,500 pixels is refused once its header has been read")
    func hugeSides() {
        // 100 KB that would decompress to gigabytes; nothing after the header is read.
        let bomb = pngStart(width: 65_500, height: 65_500) + [UInt8](repeating: 0, count: 100_000)
        #expect(throws: ImageFileError.tooLarge(.side, found: 65_500, allowed: 20_000)) {
            try EncodedImage(bomb)
        }
    }

    @Test("a picture with too many pixels is refused even if its sides are within the limit")
    func pixels() {
        let limits = ImageLimits(bytes: 1 << 20, pixels: 9_800, side: 100, frames: 1)
        let wide = pngStart(width: 99, height: 99)
        #expect(throws: ImageFileError.tooLarge(.pixels, found: 9_801, allowed: 9_800)) {
            try EncodedImage(wide, limits: limits)
        }
    }

    @Test("a picture just within every limit is accepted, and one over any limit is refused")
    func edges() throws {
        let vector = try FormatVector.named("animated-lossy.webp")
        let bytes = try vector.bytes()
        func limits(_ bytes: Int, _ pixels: Int, _ side: Int, _ frames: Int) -> ImageLimits {
            ImageLimits(bytes: bytes, pixels: pixels, side: side, frames: frames)
        }
        #expect(
            try EncodedImage(bytes, limits: limits(bytes.count, 9_801, 99, 3)).frameCount == 3)
        #expect(
            throws: ImageFileError.tooLarge(
                .bytes, found: bytes.count, allowed: bytes.count - 1)
        ) { try EncodedImage(bytes, limits: limits(bytes.count - 1, 9_801, 99, 3)) }
        #expect(throws: ImageFileError.tooLarge(.pixels, found: 9_801, allowed: 9_800)) {
            try EncodedImage(bytes, limits: limits(bytes.count, 9_800, 99, 3))
        }
        #expect(throws: ImageFileError.tooLarge(.side, found: 99, allowed: 98)) {
            try EncodedImage(bytes, limits: limits(bytes.count, 9_801, 98, 3))
        }
        #expect(throws: ImageFileError.tooLarge(.frames, found: 3, allowed: 2)) {
            try EncodedImage(bytes, limits: limits(bytes.count, 9_801, 99, 2))
        }
    }

    @Test(
        "JPEG and WebP headers are checked against the limits",
        arguments: [
            "baseline.jpg", "progressive.jpg", "lossy.webp", "lossless.webp",
        ])
    func otherFormats(name: String) throws {
        let vector = try FormatVector.named(name)
        let limits = ImageLimits(bytes: 1 << 20, pixels: 9_800, side: 100, frames: 1)
        // The header is enough: most of the picture is cut off.
        let start = Array(try vector.bytes().prefix(700))
        #expect(throws: ImageFileError.tooLarge(.pixels, found: 9_801, allowed: 9_800)) {
            try EncodedImage(start, limits: limits)
        }
    }

    @Test(
        "a loaded library does not decode a picture over the limit",
        arguments: [
            "still.gif", "gray-lzw.tiff", "lossy.heic", "lossy.avif", "colour.bmp", "binary.pbm",
        ])
    func loadedFormats(name: String) throws {
        let vector = try FormatVector.named(name)
        let pixels = ImageLimits(bytes: 1 << 20, pixels: 9_800, side: 100, frames: 1)
        #expect(throws: ImageFileError.tooLarge(.pixels, found: 9_801, allowed: 9_800)) {
            try vector.image(limits: pixels)
        }
        let side = ImageLimits(bytes: 1 << 20, pixels: 1 << 20, side: 98, frames: 1)
        #expect(throws: ImageFileError.tooLarge(.side, found: 99, allowed: 98)) {
            try vector.image(limits: side)
        }
        let enough = ImageLimits(bytes: 1 << 20, pixels: 9_801, side: 99, frames: 1)
        #expect(try vector.image(limits: enough).width == 99)
    }

    @Test(
        "pages and frames are counted before they are decoded",
        arguments: ["animated.gif", "pages.tiff", "pages.pdf"])
    func frames(name: String) throws {
        let vector = try FormatVector.named(name)
        let two = ImageLimits(bytes: 1 << 20, pixels: 1 << 20, side: 10_000, frames: 2)
        #expect(throws: ImageFileError.tooLarge(.frames, found: 3, allowed: 2)) {
            try vector.image(limits: two)
        }
        let three = ImageLimits(bytes: 1 << 20, pixels: 1 << 20, side: 10_000, frames: 3)
        #expect(try vector.image(limits: three).frameCount == 3)
    }

    @Test("a PDF file that needs a password is recognised as encrypted")
    func encryptedPDF() throws {
        let vector = try FormatVector.named("page.pdf")
        let bytes = try vector.bytes()
        let trailer = Array("trailer<<".utf8)
        let place =
            try #require(
                bytes.indices.first { bytes[$0...].starts(with: trailer) }) + trailer.count
        // No password has these digests.
        let digest = String(repeating: "55", count: 32)
        let encryption =
            "/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<\(digest)>/U<\(digest)>>>/ID[<00><00>]"
        let encrypted = bytes[..<place] + Array(encryption.utf8) + bytes[place...]
        #expect(throws: ImageFileError.encrypted(.pdf)) {
            try vector.image(Array(encrypted))
        }
        #expect(throws: ImageFileError.damaged(.pdf)) {
            try vector.image(Array(bytes.prefix(20)))
        }
    }

    @Test("a picture without pixels is treated as damaged")
    func noPixels() {
        for (width, height) in [(0, 10), (10, 0), (0, 0)] {
            #expect(throws: ImageFileError.damaged(.png)) {
                try EncodedImage(pngStart(width: width, height: height))
            }
        }
    }

    private func pngStart(width: Int, height: Int) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] {
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
        }
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]
            + Array("IHDR".utf8) + number(width) + number(height) + [8, 0, 0, 0, 0, 0, 0, 0, 0]
    }
}
