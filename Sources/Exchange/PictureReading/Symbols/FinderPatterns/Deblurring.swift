import Glibc
import QRDrawing

/// Reverses the blur that mixes the brightness of neighbouring modules.
///
/// The modules of the function patterns are known. All other modules are chosen between light and
/// dark so that their blurred image comes as close as possible to the image. This restores most
/// symbols even if blur hides nine tenths of the contrast between two modules.
struct Deblurring {
    private let patterns: FunctionPatterns
    private let seen: ModulePlane
    /// 1 for each unknown module.
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
        // A dark module is 1, a light module 0, and an unknown module 0.5.
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

/// A number for each module, with a margin of zeros as wide as the blur reaches.
struct ModulePlane {
    let values: [Float]
    let stride: Int
    private static let margin = 2

    init(values: [Float], stride: Int) {
        self.values = values
        self.stride = stride
    }

    init(_ inner: [Float], modules: Int) {
        stride = modules + 2 * Self.margin
        var values = [Float](repeating: 0, count: stride * stride)
        for row in 0..<modules {
            let start = (row + Self.margin) * stride + Self.margin
            for column in 0..<modules { values[start + column] = inner[row * modules + column] }
        }
        self.values = values
    }

    /// The numbers without the margin, row by row.
    var modules: [Float] {
        let size = stride - 2 * Self.margin
        return (Self.margin..<Self.margin + size).flatMap { row in
            let start = row * stride + Self.margin
            return values[start..<start + size]
        }
    }

    /// Combines the numbers of three planes, module by module.
    @inline(__always)
    func combined(
        _ b: ModulePlane, _ c: ModulePlane, _ combine: (Float, Float, Float) -> Float
    ) -> ModulePlane {
        let count = values.count
        let combined = unsafe [Float](unsafeUninitializedCapacity: count) { target, filled in
            unsafe values.withUnsafeBufferPointer { a in
                unsafe b.values.withUnsafeBufferPointer { b in
                    unsafe c.values.withUnsafeBufferPointer { c in
                        for index in 0..<count {
                            unsafe target[index] = combine(a[index], b[index], c[index])
                        }
                    }
                }
            }
            filled = count
        }
        return ModulePlane(values: combined, stride: stride)
    }
}

/// A Gaussian blur of modules that are surrounded by light modules.
struct ModuleBlur {
    private let near: Float
    private let far: Float
    private let own: Float

    init(width: Float) {
        let one = exp(-1 / (2 * width * width))
        let two = exp(-4 / (2 * width * width))
        own = 1 / (1 + 2 * one + 2 * two)
        near = one * own
        far = two * own
    }

    func callAsFunction(_ plane: ModulePlane) -> ModulePlane {
        along(along(plane, step: 1), step: plane.stride)
    }

    /// The margin of the result has no meaning, except for the rows above and below, which stay 0.
    private func along(_ plane: ModulePlane, step: Int) -> ModulePlane {
        let count = plane.values.count
        let blurred = unsafe [Float](unsafeUninitializedCapacity: count) { target, filled in
            unsafe target.initialize(repeating: 0)
            unsafe plane.values.withUnsafeBufferPointer { source in
                for index in 2 * step..<count - 2 * step {
                    let beside = unsafe source[index - step] + source[index + step]
                    let beyond = unsafe source[index - 2 * step] + source[index + 2 * step]
                    unsafe target[index] = own * source[index] + near * beside + far * beyond
                }
            }
            filled = count
        }
        return ModulePlane(values: blurred, stride: plane.stride)
    }
}
