import QRDrawing

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
