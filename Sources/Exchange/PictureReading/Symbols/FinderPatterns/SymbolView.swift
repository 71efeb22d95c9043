import QRDrawing

/// An image sampled through a symbol's projection.
struct SymbolView {
    let picture: GrayImage
    let projection: Projection
    /// The number of modules per side.
    let modules: Int
    /// Whether light and dark are exchanged.
    let isInverted: Bool

    /// The corners in the image, in order.
    var outline: [Point] {
        [(0.0, 0.0), (1, 0), (1, 1), (0, 1)].map { projection(Point(x: $0, y: $1)) }
    }

    /// The mean side of a module in the image, in pixels.
    var moduleSize: Double {
        let corners = outline
        let perimeter = corners.indices.map { (corners[$0] - corners[($0 + 1) % 4]).length }
        return perimeter.reduce(0, +) / Double(4 * modules)
    }

    /// The mean brightness in the central part of the module with its centre at `place`, in
    /// modules.
    func brightness(at place: Point) -> Float {
        var sum: Float = 0
        unsafe picture.pixels.withUnsafeBufferPointer { source in
            for down in -1...1 {
                for across in -1...1 {
                    let sample = place + Point(x: Double(across), y: Double(down)) * 0.25
                    let seen = projection(sample * (1 / Double(modules)))
                    unsafe sum += picture.brightness(at: seen, in: source)
                }
            }
        }
        return isInverted ? 255 - sum / 9 : sum / 9
    }

    /// The brightness at one point only.
    func middleBrightness(at place: Point) -> Float {
        let seen = projection(place * (1 / Double(modules)))
        let value = unsafe picture.pixels.withUnsafeBufferPointer { source in
            unsafe picture.brightness(at: seen, in: source)
        }
        return isInverted ? 255 - value : value
    }

    /// The brightness of every module, row by row.
    func modulesBrightness() -> GrayImage {
        var pixels: [UInt8] = []
        pixels.reserveCapacity(modules * modules)
        for row in 0..<modules {
            for column in 0..<modules {
                let middle = Point(x: Double(column) + 0.5, y: Double(row) + 0.5)
                pixels.append(UInt8(brightness(at: middle)))
            }
        }
        return GrayImage(width: modules, height: modules, pixels: pixels)
    }

    /// The image's brightness at the points of a square grid, row by row.
    ///
    /// - Parameters:
    ///   - centre: the middle of the grid, in modules.
    ///   - step: the distance of neighbouring points, in modules.
    ///   - count: the number of points on each side of the centre.
    func samples(around centre: Point, step: Double, count: Int) -> [Float] {
        var samples: [Float] = []
        samples.reserveCapacity((2 * count + 1) * (2 * count + 1))
        unsafe picture.pixels.withUnsafeBufferPointer { source in
            for row in -count...count {
                for column in -count...count {
                    let place = centre + Point(x: Double(column), y: Double(row)) * step
                    let seen = projection(place * (1 / Double(modules)))
                    samples.append(unsafe picture.brightness(at: seen, in: source))
                }
            }
        }
        return samples
    }
}

extension SymbolView {
    /// The symbol rectified, dark on light, with a clean margin of four modules.
    func rectified() -> GrayImage {
        let scale = modules > 60 ? 4 : 6
        let margin = 4
        let inside = modules * scale
        let side = inside + 2 * margin * scale
        let flip: UInt8 = isInverted ? 255 : 0
        // Modules that are larger in the image than in the result are averaged, not sampled.
        let samples = min(max(Int((moduleSize / Double(scale)).rounded()), 1), 4)
        return unsafe picture.drawn(width: side, height: side) { source, target in
            unsafe target.update(repeating: 255)
            for row in 0..<inside {
                for column in 0..<inside {
                    var sum: Float = 0
                    for step in 0..<samples * samples {
                        let x = Double(column) + (Double(step % samples) + 0.5) / Double(samples)
                        let y = Double(row) + (Double(step / samples) + 0.5) / Double(samples)
                        let place = projection(
                            Point(x: x / Double(inside), y: y / Double(inside)))
                        unsafe sum += picture.brightness(at: place, in: source)
                    }
                    let value = UInt8(min(sum / Float(samples * samples) + 0.5, 255))
                    let at = (row + margin * scale) * side + column + margin * scale
                    unsafe target[at] = value ^ flip
                }
            }
        }
    }
}

extension GrayImage {
    /// The interpolated brightness between four pixel centres; beyond the edge, the brightness at
    /// the edge.
    @inline(__always)
    func brightness(at place: Point, in source: UnsafeBufferPointer<UInt8>) -> Float {
        // A hostile triplet can project to infinity, or to no number at all; `max(0, x)`, in this
        // order, replaces the latter with 0.
        let x = min(max(0, place.x - 0.5), Double(width - 1))
        let y = min(max(0, place.y - 0.5), Double(height - 1))
        let left = Int(x)
        let top = Int(y)
        let right = min(left + 1, width - 1)
        let bottom = min(top + 1, height - 1)
        let fx = Float(x - Double(left))
        let fy = Float(y - Double(top))
        let upper =
            unsafe Float(source[top * width + left]) * (1 - fx)
            + Float(source[top * width + right]) * fx
        let lower =
            unsafe Float(source[bottom * width + left]) * (1 - fx)
            + Float(source[bottom * width + right]) * fx
        return upper * (1 - fy) + lower * fy
    }
}

extension SymbolView {
    /// The view with its corners moved to where it resembles the function patterns most.
    ///
    /// Blur and uneven light shift the outlines of the finder patterns, from which the first
    /// projection is computed.
    func fitted(to patterns: FunctionPatterns) -> SymbolView {
        let mask = PatternMask(patterns)
        var best = self
        var bestMatch = mask.match(of: self)
        var corners = outline
        for share in [0.8, 0.4, 0.2, 0.1] {
            let step = share * moduleSize
            for _ in 0..<2 {
                for corner in corners.indices {
                    for move in [
                        Point(x: step, y: 0), Point(x: -step, y: 0), Point(x: 0, y: step),
                        Point(x: 0, y: -step),
                    ] {
                        var moved = corners
                        moved[corner] = moved[corner] + move
                        guard let projection = Projection(corners: moved) else { continue }
                        let view = SymbolView(
                            picture: picture, projection: projection, modules: modules,
                            isInverted: isInverted)
                        let match = mask.match(of: view)
                        if match > bestMatch {
                            bestMatch = match
                            best = view
                            corners = moved
                        }
                    }
                }
            }
        }
        return best
    }
}

/// The modules of the function patterns and what is expected there.
struct PatternMask {
    private let places: [Point]
    /// The expected values, dark negative, blurred, and centred on 0.
    private let expected: [Float]

    init(_ patterns: FunctionPatterns) {
        let modules = patterns.modules
        let known = patterns.known.indices.filter { patterns.known[$0] != nil }
        places = known.map { Point(x: Double($0 % modules) + 0.5, y: Double($0 / modules) + 0.5) }
        func value(_ row: Int, _ column: Int) -> Float {
            guard (0..<modules).contains(row), (0..<modules).contains(column) else { return 1 }
            return patterns.known[row * modules + column].map { $0 ? -1 : 1 } ?? 0
        }
        let blurred = known.map { index -> Float in
            let (row, column) = (index / modules, index % modules)
            let sides =
                value(row - 1, column) + value(row + 1, column) + value(row, column - 1)
                + value(row, column + 1)
            return value(row, column) + 0.4 * sides
        }
        let mean = blurred.reduce(0, +) / Float(blurred.count)
        expected = blurred.map { $0 - mean }
    }

    /// The correlation of the expected values with those that are seen, -1 to 1.
    func match(of view: SymbolView) -> Float {
        var sum: Float = 0
        var squares: Float = 0
        var product: Float = 0
        for (place, value) in zip(places, expected) {
            let seen = view.middleBrightness(at: place)
            sum += seen
            squares += seen * seen
            product += seen * value
        }
        let count = Float(places.count)
        let variance = squares - sum * sum / count
        let norm = expected.reduce(0) { $0 + $1 * $1 }
        return variance > 0 ? product / (variance * norm).squareRoot() : 0
    }
}

extension Projection {
    /// The projection of a symbol onto a quadrilateral; `nil` if the corners do not determine one.
    init?(corners: [Point]) {
        let square = [Point(x: 0, y: 0), Point(x: 1, y: 0), Point(x: 1, y: 1), Point(x: 0, y: 1)]
        self.init(Array(zip(square, corners)), isAffine: false)
    }
}

/// A perspective projection from positions in a symbol to positions in the image.
struct Projection {
    /// A 3 × 3 matrix whose last element is 1; stored inline, because millions of points are
    /// projected.
    private let h: [9 of Double]

    /// The least-squares projection of the pairs; `nil` if they do not determine one.
    ///
    /// - Parameters:
    ///   - pairs: positions in the symbol (ideally between 0 and 1) and in the image.
    ///   - isAffine: whether parallels stay parallel, which is more robust if the pairs are
    ///     inaccurate.
    init?(_ pairs: [(symbol: Point, picture: Point)], isAffine: Bool) {
        let unknowns = isAffine ? 6 : 8
        var system = LinearSystem(unknowns: unknowns)
        // Pixels are divided by 1,000, so that the squares have similar magnitudes.
        for (s, pixel) in pairs {
            let p = pixel * 0.001
            let forX = [s.x, s.y, 1, 0, 0, 0, -s.x * p.x, -s.y * p.x]
            let forY = [0, 0, 0, s.x, s.y, 1, -s.x * p.y, -s.y * p.y]
            system.add(Array(forX.prefix(unknowns)), equals: p.x)
            system.add(Array(forY.prefix(unknowns)), equals: p.y)
        }
        guard let solved = system.solution() else { return nil }
        h = [9 of Double] { $0 < unknowns ? solved[$0] : $0 == 8 ? 1 : 0 }
    }

    /// The position in the image of a position in the symbol.
    @inline(__always)
    func callAsFunction(_ place: Point) -> Point {
        let depth = (h[6] * place.x + h[7] * place.y + h[8]) * 0.001
        return Point(
            x: (h[0] * place.x + h[1] * place.y + h[2]) / depth,
            y: (h[3] * place.x + h[4] * place.y + h[5]) / depth)
    }
}

/// Linear equations in a few unknowns, solved by least squares.
struct LinearSystem {
    private let unknowns: Int
    /// The normal equations, each with its right-hand side as the last number.
    private var rows: [[Double]]

    init(unknowns: Int) {
        self.unknowns = unknowns
        rows = Array(
            repeating: [Double](repeating: 0, count: unknowns + 1), count: unknowns)
    }

    mutating func add(_ factors: [Double], equals value: Double) {
        for row in 0..<unknowns {
            for column in 0..<unknowns { rows[row][column] += factors[row] * factors[column] }
            rows[row][unknowns] += factors[row] * value
        }
    }

    /// Gaussian elimination with partial pivoting; `nil` if the solution is not unique.
    func solution() -> [Double]? {
        var rows = rows
        for column in 0..<unknowns {
            let pivots = column..<unknowns
            guard let pivot = pivots.max(by: { abs(rows[$0][column]) < abs(rows[$1][column]) }),
                abs(rows[pivot][column]) > 1e-12
            else { return nil }
            rows.swapAt(column, pivot)
            for row in 0..<unknowns where row != column {
                let factor = rows[row][column] / rows[column][column]
                for index in column...unknowns { rows[row][index] -= factor * rows[column][index] }
            }
        }
        return (0..<unknowns).map { rows[$0][unknowns] / rows[$0][$0] }
    }
}

/// A point in an image, or a vector between two points: pixels to the right and down.
struct Point: Hashable {
    var x: Double
    var y: Double

    static func + (a: Point, b: Point) -> Point { Point(x: a.x + b.x, y: a.y + b.y) }
    static func - (a: Point, b: Point) -> Point { Point(x: a.x - b.x, y: a.y - b.y) }
    static prefix func - (a: Point) -> Point { Point(x: -a.x, y: -a.y) }
    static func * (a: Point, factor: Double) -> Point { Point(x: a.x * factor, y: a.y * factor) }

    var length: Double { (x * x + y * y).squareRoot() }

    /// The unit vector in the same direction; a zero vector is returned unchanged.
    var unit: Point { length > 0 ? self * (1 / length) : self }

    func dot(_ other: Point) -> Double { x * other.x + y * other.y }

    func cross(_ other: Point) -> Double { x * other.y - y * other.x }

    /// Whether the point is inside the polygon with these corners: a ray crosses an odd number of
    /// edges.
    func isInside(_ corners: [Point]) -> Bool {
        var isInside = false
        for (index, a) in corners.enumerated() {
            let b = corners[(index + 1) % corners.count]
            if (a.y > y) != (b.y > y), x < a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x) {
                isInside.toggle()
            }
        }
        return isInside
    }
}
