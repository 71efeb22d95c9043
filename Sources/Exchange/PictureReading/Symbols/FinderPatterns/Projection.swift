/// A perspective projection from positions in a symbol to positions in the picture.
struct Projection {
    /// A 3 × 3 matrix whose last element is 1; stored inline, because millions of points are
    /// projected.
    private let h: [9 of Double]

    /// The least-squares projection of the pairs; `nil` if they do not determine one.
    ///
    /// - Parameters:
    ///   - pairs: positions in the symbol (ideally between 0 and 1) and in the picture.
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

    /// The position in the picture of a position in the symbol.
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

/// A point in a picture, or a vector between two points: pixels to the right and down.
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
