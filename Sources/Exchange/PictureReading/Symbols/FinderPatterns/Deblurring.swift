import QRDrawing

/// Reverses the blur that mixes the brightness of neighbouring modules.
///
/// The modules of the function patterns are known. The others are chosen between light and dark so
/// that their blurred image comes as close as possible to what was seen. This restores most symbols
/// even if blur hides nine tenths of the contrast between two modules.
struct Deblurring {
    private let patterns: FunctionPatterns
    private let seen: ModulePlane
    /// 1 for the modules that are not known.
    private let unknown: ModulePlane
    private let inside: ModulePlane
    /// The widths of blur that are tried, in modules.
    ///
    /// If there is less blur, the modules can be told apart without this method; if there is more,
    /// they cannot be restored.
    private static let widths: [Float] = [0.45, 0.55, 0.65, 0.74, 0.82]
    private static let rounds = 60

    /// - Parameter brightness: the brightness of each module.
    init(_ brightness: GrayImage, _ patterns: FunctionPatterns) {
        self.patterns = patterns
        let modules = patterns.modules
        seen = ModulePlane(brightness.pixels.map { Float($0) }, modules: modules)
        unknown = ModulePlane(patterns.known.map { $0 == nil ? 1 : 0 }, modules: modules)
        inside = ModulePlane(patterns.known.map { _ in 1 }, modules: modules)
    }

    /// The restored grids for the two most likely widths of the blur, the best first.
    func grids() -> [ModuleGrid] {
        let results = Self.widths.map { restored(width: $0) }
        return results.sorted { $0.error < $1.error }.prefix(2).map(\.grid)
    }

    /// The grid that best explains what was seen through a blur, and the remaining error.
    ///
    /// This is a projected gradient descent with momentum (FISTA, Beck and Teboulle 2009).
    private func restored(width: Float) -> (grid: ModuleGrid, error: Float) {
        let blur = ModuleBlur(width: width)
        // Dark is 1.
        var dark = ModulePlane(
            patterns.known.map { known in known.map { $0 ? 1 : 0 } ?? 0.5 },
            modules: patterns.modules)
        let target = levels(expected: blur(dark))
        var ahead = dark
        var weight: Float = 1
        for _ in 0..<Self.rounds {
            let step = blur(target.combined(blur(ahead), inside) { ($0 - $1) * $2 })
            let nextWeight = (1 + (1 + 4 * weight * weight).squareRoot()) / 2
            let momentum = (weight - 1) / nextWeight
            weight = nextWeight
            let next = ahead.combined(step, unknown) { min(max($0 + $1 * $2, 0), 1) }
            ahead = next.combined(dark, unknown) { $0 + momentum * ($0 - $1) * $2 }
            dark = next
        }
        let rest = target.combined(blur(dark), inside) { ($0 - $1) * ($0 - $1) * $2 }
        return (ModuleGrid(dark.modules.map { $0 > 0.5 }, patterns), rest.modules.reduce(0, +))
    }

    /// How dark each module was seen, on a scale on which the finder patterns have the expected
    /// values.
    private func levels(expected: ModulePlane) -> ModulePlane {
        let size = patterns.modules
        let (expected, seen) = (expected.modules, seen.modules)
        // The line of least squares through the pairs of expected and seen values.
        var count: Float = 0
        var sums = SIMD4<Float>.zero
        for (left, top) in [(0, 0), (size - 7, 0), (0, size - 7)] {
            for row in top..<top + 7 {
                for index in row * size + left..<row * size + left + 7 {
                    count += 1
                    let (x, y) = (expected[index], seen[index])
                    sums += SIMD4(x, y, x * x, x * y)
                }
            }
        }
        let slope = (count * sums[3] - sums[0] * sums[1]) / (count * sums[2] - sums[0] * sums[0])
        let white = (sums[1] - slope * sums[0]) / count
        // The slope is negative, because dark modules are darker, unless this is not a symbol.
        return ModulePlane(seen.map { ($0 - white) / min(slope, -1) }, modules: size)
    }
}
