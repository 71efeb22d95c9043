import QRDrawing

/// A picture sampled through a symbol's projection.
struct SymbolView {
    let picture: GrayImage
    let projection: Projection
    /// The number of modules per side.
    let modules: Int
    /// Whether light and dark are exchanged.
    let isInverted: Bool

    /// The corners in the picture, in order.
    var outline: [Point] {
        [(0.0, 0.0), (1, 0), (1, 1), (0, 1)].map { projection(Point(x: $0, y: $1)) }
    }

    /// The mean side of a module in the picture, in pixels.
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

    /// The picture's brightness at the points of a square grid, row by row.
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
        // Modules that are larger in the picture than in the result are averaged, not sampled.
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
    /// The interpolated brightness between four pixel centres; beyond the edge, that of the edge.
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
