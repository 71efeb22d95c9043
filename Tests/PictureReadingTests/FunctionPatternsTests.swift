import QRDrawing
import Testing

@testable import PictureReading

@Suite struct FunctionPatternsTests {
    @Test("the function patterns of all 40 versions match libqrencode's")
    func allVersions() throws {
        var seen: Set<Int> = []
        for length in stride(from: 1, through: 2_331, by: 20) {
            let text = [UInt8](repeating: 0xB7, count: length)
            let symbol = try Symbol(encoding: text.span, correction: .medium)
            guard seen.insert(symbol.side).inserted else { continue }
            let patterns = FunctionPatterns(modules: symbol.side)
            for (index, known) in patterns.known.enumerated() {
                guard let known else { continue }
                let dark = symbol.isDark(column: index % symbol.side, row: index / symbol.side)
                #expect(dark == known, "module \(index) of \(symbol.side)")
            }
        }
        #expect(seen == Set(stride(from: 21, through: 177, by: 4)))
    }

    @Test(
        "the number of alignment patterns matches annex E of the standard",
        arguments: [
            (21, 0), (25, 1), (45, 6), (73, 13), (101, 22), (145, 33), (177, 46),
        ])
    func counts(modules: Int, count: Int) {
        #expect(FunctionPatterns(modules: modules).alignments.count == count)
    }
}
