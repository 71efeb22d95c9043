import PictureReading
import Pictures
import Testing

@Suite struct ImageKindTests {
    @Test("an unsupported format is reported by name", arguments: Start.known)
    func unsupported(start: Start) throws {
        guard case .unsupported(let format) = start.kind else {
            Issue.record("the format is not supported")
            return
        }
        #expect(throws: ImageFileError.unsupported(format)) { try EncodedImage(start.bytes) }
    }

    @Test("without its library, a picture is recognised but not read", arguments: Start.loaded)
    func loaded(start: Start) throws {
        #expect(ImageKind(of: start.bytes.span) == start.kind)
        guard case .readable(let format) = start.kind else {
            Issue.record("the format can be read")
            return
        }
        #expect(ImageLibrary(for: start.bytes.span) == format.library)
        #expect(throws: ImageFileError.libraryMissing(format)) { try EncodedImage(start.bytes) }
    }

    @Test("a picture cannot be read with the library of a different format")
    func otherLibrary() throws {
        let library = try #require(LoadedImageLibrary(.giflib))
        #expect(throws: ImageFileError.libraryMissing(.tiff)) {
            try EncodedImage(Array("II\u{2A}\0\u{8}\0\0\0".utf8), library: library)
        }
    }

    @Test("a file with only the signature of a loaded format is treated as a damaged picture")
    func loadedSignatureAlone() throws {
        for start in Start.loaded {
            guard case .readable(let format) = start.kind, let needed = format.library else {
                continue
            }
            let library = try #require(LoadedImageLibrary(needed), "\(needed)")
            if start.bytes.starts(with: "<".utf8) { continue }
            #expect(throws: ImageFileError.damaged(format)) {
                try EncodedImage(start.bytes, library: library)
            }
        }
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
    let kind: ImageKind
    let bytes: [UInt8]

    /// - Parameter text: characters up to U+00FF, one for each byte.
    init(_ kind: ImageKind, _ text: String) {
        self.kind = kind
        bytes = text.unicodeScalars.map { UInt8($0.value) }
    }

    static let known: [Start] = [
        Start(.unsupported(.jpegXL), "\u{FF}\u{0A}\0\0"),
        Start(.unsupported(.jpegXL), "\0\0\0\u{C}JXL \u{D}\u{A}\u{87}\u{A}"),
        Start(.unsupported(.arbitraryMap), "P7\nWIDTH 2\n"),
    ]

    static let loaded: [Start] = [
        Start(.readable(.gif), "GIF89a\u{1}\0\u{1}\0"),
        Start(.readable(.gif), "GIF87a"),
        Start(.readable(.bmp), "BM\u{46}\0\0\0\0\0\0\0\u{36}\0\0\0"),
        Start(.readable(.tiff), "II\u{2A}\0\u{8}\0\0\0"),
        Start(.readable(.tiff), "MM\0\u{2A}\0\0\0\u{8}"),
        Start(.readable(.heic), "\0\0\0\u{18}ftypheic"),
        Start(.readable(.heic), "\0\0\0\u{18}ftypmif1"),
        Start(.readable(.avif), "\0\0\0\u{1C}ftypavif"),
        Start(.readable(.netpbm), "P6\n2 2\n255\n"),
        Start(.readable(.netpbm), "P2\n# by hand\n2 2\n255\n"),
        Start(.readable(.pdf), "%PDF-1.7\n"),
        Start(.readable(.svg), "<svg xmlns=\"http://www.w3.org/2000/svg\"/>"),
        Start(.readable(.svg), "<?xml version=\"1.0\"?>\n<!-- by hand -->\n<svg/>"),
        Start(.readable(.svg), "<!DOCTYPE svg [\n<!ENTITY a \"b\">\n]>\n<svg:svg>"),
        Start(.readable(.svg), "\u{EF}\u{BB}\u{BF}<svg>"),
    ]

    static let unknown: [Start] = [
        Start(.unknown, ""),
        Start(.unknown, "\0"),
        Start(.unknown, "\u{FF}\u{D8}"),
        Start(.unknown, "\u{89}PNG"),
        Start(.unknown, "GIF90a"),
        Start(.unknown, "BMW"),
        Start(.unknown, "P9\n"),
        Start(.unknown, "P2\nlogin"),
        Start(.unknown, "<html>"),
        Start(.unknown, "<html><svg/></html>"),
        Start(.unknown, "<?xml version=\"1.0\"?><database><!-- <svg> --></database>"),
        Start(.unknown, "<svgx>"),
        Start(.unknown, "<!-- <svg>"),
        Start(.unknown, "RIFF....WAVE"),
        Start(.unknown, "otpauth://totp/a?secret=MFRGG"),
        Start(.unknown, "\0\0\0\u{18}ftypisom"),
    ]
}
