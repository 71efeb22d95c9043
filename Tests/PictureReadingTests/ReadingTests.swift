import QRDrawing
import Testing
import WatchwordSystem

@testable import PictureReading

@Suite struct ReadingTests {
    private let text = "otpauth://totp/ACME:alice?secret=MFRGGZDF&issuer=ACME"

    private func texts(in views: PictureViews) throws -> [String] {
        try readSymbols(in: views).symbols.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "a symbol's bytes are returned unchanged",
        arguments: [
            Array("otpauth://totp/東京銀行:jörg?secret=MFRGG".utf8),
            // “jörg” in Latin-1, which is not valid UTF-8.
            Array("otpauth://totp/j".utf8) + [0xF6] + Array("rg?secret=MFRGG".utf8),
            [0, 1, 2, 0, 255, 254, 128, 0], (0...255).map { UInt8($0) },
            Array("12345678901234567890".utf8), Array("UPPER CASE $%*+-./:".utf8),
        ])
    func bytes(payload: [UInt8]) throws {
        let views = PictureViews(brightness: try drawn(payload))
        #expect(try readSymbols(in: views).symbols == [payload])
    }

    @Test("every symbol in a picture is found, including inverted symbols next to normal ones")
    func several() throws {
        let page = beside([
            try drawn("first"), try drawn("second").inverted(), try drawn("third"),
            try drawn("fourth").inverted(),
        ])
        let texts = try texts(in: PictureViews(brightness: page))
        #expect(Set(texts) == ["first", "second", "third", "fourth"])
    }

    @Test("two symbols with the same text are reported as one text")
    func twins() throws {
        let page = beside([try drawn(text), try drawn(text)])
        #expect(try texts(in: PictureViews(brightness: page)) == [text])
    }

    @Test("each of many symbols on a page is read")
    func sheet() throws {
        let texts = (0..<36).map { "symbol number \($0)" }
        let rows = try stride(from: 0, to: 36, by: 6).map { start in
            beside(try texts[start..<start + 6].map { try drawn($0, modulePixels: 3) })
        }
        let page = GrayImage(
            width: rows[0].width, height: rows.map(\.height).reduce(0, +),
            pixels: rows.flatMap(\.pixels))
        #expect(try self.texts(in: PictureViews(brightness: page)).sorted() == texts.sorted())
    }

    @Test("if several symbols were read in a reduced picture, the rest are read at full size")
    func rest() throws {
        let two = beside([try drawn("first"), try drawn("second")])
        let third = try drawn("third")
        let gap = third.changed { _, _, _ in 255 }
        let full = beside([two, third])
        let views = PictureViews(
            brightness: beside([two, gap]).reduced(longerSide: full.width / 2),
            fullSize: { full })
        #expect(Set(try texts(in: views)) == ["first", "second", "third"])
    }

    @Test(
        "a symbol is read even if blur mixes the brightness of neighbouring modules",
        arguments: [0.4, 0.6, 0.7, 0.8])
    func blurred(modules: Double) throws {
        let symbol = try drawn(text, modulePixels: 8).framed(by: 20, brightness: 255)
        let picture = symbol.blurred(sigma: 8 * modules)
        #expect(try texts(in: PictureViews(brightness: picture)) == [text])
    }

    @Test("a symbol is read even if it is inverted or has no margin, or both")
    func inverted() throws {
        let whole = try drawn(text)
        let tight = whole.cropped(by: 16)
        for picture in [whole.inverted(), tight, tight.inverted()] {
            #expect(try texts(in: PictureViews(brightness: picture)) == [text])
        }
    }

    @Test("a white symbol on a transparent background is read from the alpha channel")
    func whiteOnTransparent() throws {
        let symbol = try drawn(text)
        let white = symbol.changed { _, _, _ in 255 }
        let views = PictureViews(brightness: white, alpha: symbol.inverted())
        let outcome = try readSymbols(in: views)
        #expect(outcome.symbols == [Array(text.utf8)])
        #expect(outcome.tried.last?.hasPrefix("alpha channel") == true)
        #expect(try readSymbols(in: PictureViews(brightness: white)).symbols == [])
    }

    @Test("two colours of equal brightness are distinguished")
    func colours() throws {
        let symbol = try drawn(text)
        let flat = symbol.changed { _, _, _ in 120 }
        let samples = symbol.pixels.flatMap {
            $0 == 0 ? [205, 60, 60] : [30, 165, 125] as [UInt8]
        }
        let colours = ColourImage(width: symbol.width, height: symbol.height, samples: samples)
        #expect(
            try texts(in: PictureViews(brightness: flat, colours: { colours })) == [text])
    }

    @Test("a symbol that is too small at the reduced size is read at full size")
    func fullSize() throws {
        let symbol = try drawn(text, modulePixels: 3)
        let lost = symbol.reduced(longerSide: 100).changed { _, _, _ in 255 }
        let outcome = try readSymbols(in: PictureViews(brightness: lost, fullSize: { symbol }))
        #expect(outcome.symbols == [Array(text.utf8)])
        #expect(outcome.tried.last?.contains("full size") == true)
    }

    private let blank = GrayImage(
        width: 120, height: 90, pixels: [UInt8](repeating: 200, count: 120 * 90))

    @Test("reading a picture without a symbol yields no text and lists the stages tried")
    func nothing() throws {
        let outcome = try readSymbols(in: PictureViews(brightness: blank))
        #expect(outcome.symbols == [])
        #expect(
            outcome.tried.prefix(3) == ["finder patterns", "unchanged", "finder patterns, blurred"])
        #expect(!outcome.ranOutOfTime)
        #expect(Set(outcome.tried).count == outcome.tried.count)
    }

    @Test("after the deadline only the first two stages are tried")
    func deadline() throws {
        let outcome = try readSymbols(in: PictureViews(brightness: blank), until: .now)
        #expect(
            outcome
                == SymbolReadingOutcome(
                    symbols: [], tried: ["finder patterns", "unchanged"], ranOutOfTime: true))
    }

    @Test(
        "a picture of any shape is processed, even a single pixel",
        arguments: [(1, 1), (1, 500), (500, 1), (2, 3), (30, 30), (3_000, 2), (2, 3_000)])
    func shapes(width: Int, height: Int) throws {
        let pixels = (0..<width * height).map {
            UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7)
        }
        let picture = GrayImage(width: width, height: height, pixels: pixels)
        let alpha = picture.inverted()
        let colours = ColourImage(
            width: width, height: height, samples: pixels.flatMap { [$0, 255 - $0, $0 / 2] })
        let views = PictureViews(
            brightness: picture, alpha: alpha, colours: { colours }, fullSize: { picture })
        #expect(try readSymbols(in: views).symbols == [])
    }
}
