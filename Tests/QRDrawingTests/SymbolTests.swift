import QRDrawing
import Testing

@Suite struct SymbolTests {
    @Test("the longest text for a level needs version 40, and one more byte is refused")
    func capacity() throws {
        for correction in ErrorCorrection.allCases {
            let most = [UInt8](repeating: 0x61, count: correction.capacity)
            #expect(try Symbol(encoding: most.span, correction: correction).side == 177)
            let tooMany = most + [0x61]
            #expect(throws: QRDrawingError.tooLong(limit: correction.capacity)) {
                try Symbol(encoding: tooMany.span, correction: correction)
            }
        }
        #expect(ErrorCorrection.low.capacity == 2953)
        #expect(ErrorCorrection.medium.capacity == 2331)
    }

    @Test("one byte fits in the smallest symbol, and empty text is refused")
    func smallest() throws {
        let one: [UInt8] = [0x61]
        #expect(try Symbol(encoding: one.span, correction: .medium).side == 21)
        let none: [UInt8] = []
        #expect(throws: QRDrawingError.empty) {
            try Symbol(encoding: none.span, correction: .medium)
        }
    }

    @Test("finder patterns are in three corners, and everything outside the symbol is light")
    func finders() throws {
        let text = Array("otpauth".utf8)
        let symbol = try Symbol(encoding: text.span, correction: .low)
        for (column, row) in [(0, 0), (symbol.side - 1, 0), (0, symbol.side - 1)] {
            #expect(symbol.isDark(column: column, row: row))
        }
        #expect(!symbol.isDark(column: 1, row: 1))
        #expect(!symbol.isDark(column: -1, row: 0))
        #expect(!symbol.isDark(column: 0, row: symbol.side))
    }

    @Test("a picture is black and white, with a white margin of four modules")
    func frame() throws {
        let text = Array("otpauth".utf8)
        let symbol = try Symbol(encoding: text.span, correction: .medium)
        let image = symbol.image(modulePixels: 3)
        #expect(image.width == (symbol.side + 8) * 3)
        #expect(image.height == image.width)
        #expect(Set(image.pixels) == [0, 255])
        let inside = 12..<image.width - 12
        for row in 0..<image.height {
            for column in 0..<image.width
            where !inside.contains(row) || !inside.contains(column) {
                #expect(image.pixels[row * image.width + column] == 255)
            }
        }
    }
}
