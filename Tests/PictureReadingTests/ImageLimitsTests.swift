import PictureReading
import Pictures
import TestSupport
import Testing

@Suite struct ImageLimitsTests {
    private let tooManyPixels = ImageFileError.tooLarge(.pixels, found: 9_801, allowed: 9_800)

    private func limits(
        _ bytes: Int = 1 << 20, pixels: Int = 1 << 20, side: Int = 100, frames: Int = 1
    ) -> ImageLimits {
        ImageLimits(bytes: bytes, pixels: pixels, side: side, frames: frames)
    }

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
        let wide = pngStart(width: 99, height: 99)
        #expect(throws: tooManyPixels) { try EncodedImage(wide, limits: limits(pixels: 9_800)) }
    }

    @Test("a picture just within every limit is accepted, and one over any limit is refused")
    func edges() throws {
        let bytes = try FormatVector.named("animated-lossy.webp").bytes()
        let count = bytes.count
        let edge = limits(count, pixels: 9_801, side: 99, frames: 3)
        #expect(try EncodedImage(bytes, limits: edge).frameCount == 3)
        for (limits, limit, found) in [
            (limits(count - 1, pixels: 9_801, side: 99, frames: 3), PictureLimit.bytes, count),
            (limits(count, pixels: 9_800, side: 99, frames: 3), .pixels, 9_801),
            (limits(count, pixels: 9_801, side: 98, frames: 3), .side, 99),
            (limits(count, pixels: 9_801, side: 99, frames: 2), .frames, 3),
        ] {
            #expect(throws: ImageFileError.tooLarge(limit, found: found, allowed: found - 1)) {
                try EncodedImage(bytes, limits: limits)
            }
        }
    }

    @Test(
        "JPEG and WebP headers are checked against the limits",
        arguments: ["baseline.jpg", "progressive.jpg", "lossy.webp", "lossless.webp"])
    func otherFormats(name: String) throws {
        // The header is enough: most of the image is cut off.
        let start = Array(try FormatVector.named(name).bytes().prefix(700))
        #expect(throws: tooManyPixels) { try EncodedImage(start, limits: limits(pixels: 9_800)) }
    }

    @Test(
        "a loaded library does not decode a picture over the limit",
        arguments: [
            "still.gif", "gray-lzw.tiff", "lossy.heic", "lossy.avif", "colour.bmp", "binary.pbm",
        ])
    func loadedFormats(name: String) throws {
        let vector = try FormatVector.named(name)
        #expect(throws: tooManyPixels) { try vector.image(limits: limits(pixels: 9_800)) }
        #expect(throws: ImageFileError.tooLarge(.side, found: 99, allowed: 98)) {
            try vector.image(limits: limits(side: 98))
        }
        #expect(try vector.image(limits: limits(pixels: 9_801, side: 99)).width == 99)
    }

    @Test(
        "pages and frames are counted before they are decoded",
        arguments: ["animated.gif", "pages.tiff", "pages.pdf"])
    func frames(name: String) throws {
        let vector = try FormatVector.named(name)
        #expect(throws: ImageFileError.tooLarge(.frames, found: 3, allowed: 2)) {
            try vector.image(limits: limits(side: 10_000, frames: 2))
        }
        #expect(try vector.image(limits: limits(side: 10_000, frames: 3)).frameCount == 3)
    }

    @Test("a PDF file that needs a password is recognised as encrypted")
    func encryptedPDF() throws {
        let vector = try FormatVector.named("page.pdf")
        let bytes = try vector.bytes()
        let trailer = Array("trailer<<".utf8)
        let start = try #require(bytes.indices.first { bytes[$0...].starts(with: trailer) })
        let place = start + trailer.count
        // No password has these digests.
        let digest = String(repeating: "55", count: 32)
        let encryption =
            "/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<\(digest)>/U<\(digest)>>>/ID[<00><00>]"
        let encrypted = bytes[..<place] + Array(encryption.utf8) + bytes[place...]
        #expect(throws: ImageFileError.encrypted(.pdf)) { try vector.image(Array(encrypted)) }
        #expect(throws: ImageFileError.damaged(.pdf)) { try vector.image(Array(bytes.prefix(20))) }
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
