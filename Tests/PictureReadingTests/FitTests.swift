import QRDrawing
import Testing

@testable import PictureReading

@Suite struct FitTests {
    private let modulePixels = 6

    @Test("only the right size matches the function patterns", arguments: [29, 41, 57])
    func sizes(modules: Int) throws {
        let picture = try symbol(modules: modules)
        let right = try match(picture, modules: modules)
        #expect(right > 0.85)
        for other in [modules - 4, modules + 4] {
            #expect(try match(picture, modules: other) < right - 0.1)
        }
    }

    @Test("an inverted symbol matches only if light and dark are exchanged")
    func inverted() throws {
        let picture = try symbol(modules: 29).inverted()
        #expect(try match(picture, modules: 29, isInverted: true) > 0.85)
        #expect(try match(picture, modules: 29) < -0.85)
    }

    @Test("corners that are off by up to a module are moved to the right place")
    func corners() throws {
        let modules = 33
        let picture = try symbol(modules: modules)
        let right = corners(of: picture)
        let offsets = [
            Point(x: 4, y: -3), Point(x: -5, y: 2), Point(x: 3, y: 5), Point(x: 0, y: -5),
        ]
        let projection = try #require(Projection(corners: zip(right, offsets).map { $0 + $1 }))
        let view = SymbolView(
            picture: picture, projection: projection, modules: modules, isInverted: false)
        let fitted = view.fitted(to: FunctionPatterns(modules: modules))
        for (corner, expected) in zip(fitted.outline, right) {
            #expect((corner - expected).length < Double(modulePixels) * 0.75)
        }
    }

    @Test("blurred modules are restored", arguments: [0.5, 0.65, 0.8])
    func deblurred(width: Double) throws {
        let modules = 41
        let sharp = try symbol(modules: modules)
        let patterns = FunctionPatterns(modules: modules)
        func brightness(_ picture: GrayImage) throws -> GrayImage {
            try view(picture, modules: modules).modulesBrightness()
        }
        let expected = ModuleGrid(try brightness(sharp), patterns).drawing()
        let blurred = try brightness(sharp.blurred(sigma: width * Double(modulePixels)))
        let restored = try #require(Deblurring(blurred, patterns).grids().first).drawing()
        let plain = ModuleGrid(blurred, patterns).drawing()
        #expect(difference(restored, expected) < 0.005)
        #expect(difference(restored, expected) <= difference(plain, expected))
    }

    /// A symbol of the given size, found by drawing longer and longer texts.
    private func symbol(modules: Int) throws -> GrayImage {
        for length in 1...400 {
            let picture = try drawn(
                String(repeating: "kq7", count: length), modulePixels: modulePixels)
            if picture.width == (modules + 8) * modulePixels { return picture }
        }
        throw NoSuchSymbol()
    }

    private struct NoSuchSymbol: Error {}

    private func corners(of picture: GrayImage) -> [Point] {
        let near = Double(4 * modulePixels)
        let far = Double(picture.width) - near
        return [(near, near), (far, near), (far, far), (near, far)].map { Point(x: $0, y: $1) }
    }

    private func view(
        _ picture: GrayImage, modules: Int, isInverted: Bool = false
    ) throws -> SymbolView {
        let projection = try #require(Projection(corners: corners(of: picture)))
        return SymbolView(
            picture: picture, projection: projection, modules: modules, isInverted: isInverted)
    }

    private func match(
        _ picture: GrayImage, modules: Int, isInverted: Bool = false
    ) throws -> Float {
        let view = try view(picture, modules: modules, isInverted: isInverted)
        return PatternMask(FunctionPatterns(modules: modules)).match(of: view)
    }

    /// The share of pixels that differ.
    private func difference(_ a: GrayImage, _ b: GrayImage) -> Double {
        let count = zip(a.pixels, b.pixels).count(where: { $0 != $1 })
        return Double(count) / Double(a.pixels.count)
    }
}
