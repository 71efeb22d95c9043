import Pictures
import QRDrawing
import Testing

@testable import PictureReading

@Suite struct FinderPatternSearchTests {
    @Test("a symbol's three finder patterns are found with their positions and sizes")
    func patterns() throws {
        let picture = try drawn("otpauth://totp/a?secret=MFRGG", modulePixels: 6)
        let regions = Regions(picture.thresholdedByOtsu())
        let found = regions.cores.compactMap { FinderPattern(core: $0, in: regions) }
            .filter { $0.module > 4 }
        let near = (4 + 3.5) * 6
        let far = Double(picture.width) - near
        let centres = Set(found.map(\.centre))
        let corners = [Point(x: near, y: near), Point(x: far, y: near), Point(x: near, y: far)]
        #expect(centres.isSuperset(of: corners))
        #expect(found.allSatisfy { $0.isDark && abs($0.module - 6) < 0.01 })
    }

    @Test("the patterns of two symbols form only triplets with a roughly right angle")
    func triplets() throws {
        let pattern = try drawn("a", modulePixels: 4)
        let regions = Regions(beside([pattern, pattern]).thresholdedByOtsu())
        let found = regions.cores.compactMap { FinderPattern(core: $0, in: regions) }
            .sorted { $0.module > $1.module }
        let triplets = FinderTriplet.all(among: found)
        #expect(triplets.count >= 2)
        for triplet in triplets {
            let a = triplet.across.centre - triplet.corner.centre
            let b = triplet.down.centre - triplet.corner.centre
            #expect(abs(a.dot(b)) < 0.6 * a.length * b.length)
            #expect(a.cross(b) > 0)
        }
    }

    @Test("a symbol's size in modules is measured correctly", arguments: [1, 30, 80, 200, 400])
    func modules(length: Int) throws {
        let text = String(repeating: "k", count: length)
        let picture = try drawn(text, modulePixels: 3)
        let frame = try #require(self.frame(of: picture))
        #expect(frame.modules == picture.width / 3 - 8)
        #expect(abs(frame.timing - 1) < 0.01)
    }

    @Test("a symbol in perspective is rectified")
    func straightened() throws {
        let text = "otpauth://totp/slanted?secret=MFRGGZDF"
        let flat = try drawn(text, modulePixels: 8)
        let slanted = slanted(flat)
        let binary = slanted.thresholdedByMean(radius: 40)
        let rescue = FinderPatternSearch(slanted, binary: binary, outside: [])
        let scanner = try SymbolScanner()
        var texts: [[UInt8]] = []
        let outcome = try rescue.show { (view) throws(ImageFileError) in
            let symbols = try scanner.scan(view)
            texts += symbols.map(\.payload)
            return symbols.isEmpty ? .notRead : .read
        }
        #expect(texts == [Array(text.utf8)])
        #expect(outcome.outlines.count == 1)
        // Symbols that were read are skipped the next time.
        let second = FinderPatternSearch(slanted, binary: binary, outside: outcome.outlines)
        let again = second.show { (_) in .read }
        #expect(again.outlines == [])
    }

    private func frame(of picture: GrayImage) -> SymbolFrame? {
        let binary = picture.thresholdedByOtsu()
        let regions = Regions(binary)
        let patterns = regions.cores.compactMap { FinderPattern(core: $0, in: regions) }
            .sorted { $0.module > $1.module }
        return FinderTriplet.all(among: patterns)
            .map { SymbolFrame($0, in: regions, of: binary) }
            .max { $0.module * Double($0.modules) < $1.module * Double($1.modules) }
    }

    /// A view from the lower left: the far edge is shorter.
    private func slanted(_ flat: GrayImage) -> GrayImage {
        let side = Double(flat.width)
        return flat.changed { x, y, _ in
            let depth = 0.75 + 0.5 * Double(x) / side
            let row = (Double(y) - side / 2) * depth + side / 2
            let column = Double(x) * depth / 1.25
            guard row >= 0, row < side, column < side else { return 255 }
            return flat.pixels[Int(row) * flat.width + Int(column)]
        }
    }
}
