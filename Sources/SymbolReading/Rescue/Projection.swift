/// Where each place of a symbol lies in the picture: a plane seen in perspective.
struct Projection {
    /// Three rows of three, the last of them 1; in place, because millions of places are projected.
    private let h: [9 of Double]

    /// The projection that fits the pairs best, by least squares; `nil` when they don't fix one.
    ///
    /// - Parameters:
    ///   - pairs: Places in the symbol (best between 0 and 1) with their places in the picture.
    ///   - isAffine: Whether parallels stay parallel: what to do when the pairs are poor.
    init?(_ pairs: [(symbol: Point, picture: Point)], isAffine: Bool) {
        let unknowns = isAffine ? 6 : 8
        var system = LinearSystem(unknowns: unknowns)
        // Pixels are divided by 1,000, so that the squares stay of one size.
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

    /// Where a place of the symbol lies in the picture.
    @inline(__always)
    func callAsFunction(_ place: Point) -> Point {
        let depth = (h[6] * place.x + h[7] * place.y + h[8]) * 0.001
        return Point(
            x: (h[0] * place.x + h[1] * place.y + h[2]) / depth,
            y: (h[3] * place.x + h[4] * place.y + h[5]) / depth)
    }
}

/// Linear equations for a few unknowns, solved by least squares.
struct LinearSystem {
    private let unknowns: Int
    /// The normal equations, each with its right side as the last number.
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

    /// Gauss's elimination with the greatest pivot; `nil` when the equations leave a choice.
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
