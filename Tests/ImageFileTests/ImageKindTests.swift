import ImageFile
import Testing

@Suite struct ImageKindTests {
    @Test("an unsupported format is reported by name", arguments: Start.known)
    func unsupported(start: Start) throws {
        let kind = try #require(start.kind)
        #expect(throws: ImageFileError.unsupported(kind)) { try EncodedImage(start.bytes) }
    }

    @Test(
        "a file of unknown format is refused because it is not a picture", arguments: Start.unknown)
    func unknown(start: Start) {
        #expect(throws: ImageFileError.notAPicture) { try EncodedImage(start.bytes) }
    }

    @Test("a file that contains only a signature is treated as a damaged picture")
    func signatureAlone() {
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        #expect(throws: ImageFileError.damaged(.png)) { try EncodedImage(png) }
        #expect(throws: ImageFileError.damaged(.jpeg)) { try EncodedImage([0xFF, 0xD8, 0xFF]) }
        #expect(throws: ImageFileError.damaged(.webp)) {
            try EncodedImage(Array("RIFF\0\0\0\0WEBP".utf8))
        }
    }
}

/// The first bytes of a file, and the format that they indicate.
struct Start: Sendable {
    let kind: UnsupportedImageFormat?
    let bytes: [UInt8]

    /// - Parameter text: characters up to U+00FF, one for each byte.
    init(_ kind: UnsupportedImageFormat?, _ text: String) {
        self.kind = kind
        bytes = text.unicodeScalars.map { UInt8($0.value) }
    }

    static let known: [Start] = [
        Start(.gif, "GIF89a\u{1}\0\u{1}\0"),
        Start(.gif, "GIF87a"),
        Start(.bmp, "BM\u{46}\0\0\0\0\0\0\0\u{36}\0\0\0"),
        Start(.tiff, "II\u{2A}\0\u{8}\0\0\0"),
        Start(.tiff, "MM\0\u{2A}\0\0\0\u{8}"),
        Start(.heic, "\0\0\0\u{18}ftypheic"),
        Start(.heic, "\0\0\0\u{18}ftypmif1"),
        Start(.avif, "\0\0\0\u{1C}ftypavif"),
        Start(.jpegXL, "\u{FF}\u{0A}\0\0"),
        Start(.jpegXL, "\0\0\0\u{C}JXL \u{D}\u{A}\u{87}\u{A}"),
        Start(.netpbm, "P6\n2 2\n255\n"),
        Start(.pdf, "%PDF-1.7\n"),
        Start(.svg, "<svg xmlns=\"http://www.w3.org/2000/svg\"/>"),
        Start(.svg, "<?xml version=\"1.0\"?>\n<!-- by hand -->\n<svg/>"),
    ]

    static let unknown: [Start] = [
        Start(nil, ""),
        Start(nil, "\0"),
        Start(nil, "\u{FF}\u{D8}"),
        Start(nil, "\u{89}PNG"),
        Start(nil, "GIF90a"),
        Start(nil, "BMW"),
        Start(nil, "P9\n"),
        Start(nil, "<html>"),
        Start(nil, "RIFF....WAVE"),
        Start(nil, "otpauth://totp/a?secret=MFRGG"),
        Start(nil, "\0\0\0\u{18}ftypisom"),
    ]
}
