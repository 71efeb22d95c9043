import PictureReading
import QRDrawing
import TestSupport
import Testing

/// A text to draw, described in test output by its length only.
struct DrawnText: CustomTestStringConvertible {
    let bytes: [UInt8]
    var testDescription: String { "\(bytes.count) bytes" }

    /// Printable characters.
    static func printable(_ count: Int) -> DrawnText {
        DrawnText(bytes: (0..<count).map { UInt8(0x21 + $0 * 7 % 94) })
    }

    /// A text for every size of symbol, and bytes that are not text.
    static let all: [DrawnText] = {
        let uri = "otpauth://totp/ACME:alice%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=ACME"
        let texts = [Array(uri.utf8), Array("Zoë's Größe 漢字".utf8), Array(0...255)]
        let sizes = [1, 14, 106, 500, 1000, 1700, ErrorCorrection.medium.capacity]
        return texts.map { DrawnText(bytes: $0) } + sizes.map(printable)
    }()
}

/// Checks drawn symbols with an independent reader.
@Suite(.enabled(if: ForeignProgram("zbarimg") != nil, "zbarimg is missing: Scripts/setup test"))
struct ReadBackTests {
    @Test("pictures of symbols up to version 40 are read back by zbarimg", arguments: DrawnText.all)
    func picture(text: DrawnText) throws {
        let symbol = try Symbol(encoding: text.bytes.span, correction: .medium)
        #expect(try whatIsRead(in: symbol.image(modulePixels: 4)) == text.bytes)
    }

    @Test("a picture with the longest text for level L is read back by zbarimg")
    func fullPicture() throws {
        let text = DrawnText.printable(ErrorCorrection.low.capacity)
        let symbol = try Symbol(encoding: text.bytes.span, correction: .low)
        #expect(try whatIsRead(in: symbol.image(modulePixels: 4)) == text.bytes)
    }

    @Test(
        "SVGs of symbols up to version 40 are drawn by rsvg-convert and read back by zbarimg",
        .enabled(
            if: ForeignProgram("rsvg-convert") != nil, "rsvg-convert is missing: Scripts/setup test"
        ), arguments: DrawnText.all)
    func document(text: DrawnText) throws {
        let converter = try #require(ForeignProgram("rsvg-convert"))
        let symbol = try Symbol(encoding: text.bytes.span, correction: .medium)
        let folder = try TemporaryFolder()
        let written = try folder.write(symbol.svg(), to: "symbol.svg")
        let drawn = folder.file("symbol.png")
        let outcome = try converter.run(["--output", drawn, written])
        #expect(outcome.status == 0)
        #expect(try read(drawn) == text.bytes)
    }

    @Test(
        "terminal output is read back from a dark screen by zbarimg", arguments: DrawnText.all
    )
    func lines(text: DrawnText) throws {
        let symbol = try Symbol(encoding: text.bytes.span, correction: .low)
        let picture = try TerminalPicture(drawing: symbol.terminal())
        #expect(picture.columns == symbol.side + 8)
        #expect(try whatIsRead(in: picture.image) == text.bytes)
    }

    /// The text that zbarimg reads in `image`, written as a PNG.
    private func whatIsRead(in image: GrayImage) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        return try read(try folder.write(try writePNG(image), to: "symbol.png"))
    }

    private func read(_ path: String) throws -> [UInt8] {
        let reader = try #require(ForeignProgram("zbarimg"))
        let outcome = try reader.run([
            "--quiet", "--raw", "--oneshot", "--set", "*.enable=0", "--set", "qr.enable=1",
            "--set", "qr.binary=1", path,
        ])
        #expect(outcome.status == 0)
        return outcome.output
    }
}
