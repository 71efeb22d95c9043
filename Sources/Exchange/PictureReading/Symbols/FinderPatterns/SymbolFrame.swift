import QRDrawing

/// The likely position of a symbol: the corners of its finder patterns' rings, and its size.
struct SymbolFrame {
    /// The number of modules per side: 21 to 177.
    let modules: Int
    /// The side of a module in the image, in pixels.
    let module: Double
    /// The colour changes in the timing patterns, as a share of the expected number.
    let timing: Double
    /// The rings of the finder patterns at the corner, across and down.
    private let rings: [Ring]

    /// Measures the symbol of a triplet in the black-and-white image in which it was found.
    init(_ triplet: FinderTriplet, in regions: Regions, of binary: GrayImage) {
        let toAcross = triplet.across.centre - triplet.corner.centre
        let toDown = triplet.down.centre - triplet.corner.centre
        let right = toAcross.unit
        let below = toDown.unit
        // The corners of a square are the points furthest along its diagonals.
        let diagonals = [-right - below, right - below, right + below, below - right]
        let corner = Ring(regions.extremes(of: triplet.corner.ring, towards: diagonals))
        let across = Ring(regions.extremes(of: triplet.across.ring, towards: diagonals))
        let down = Ring(regions.extremes(of: triplet.down.ring, towards: diagonals))

        let wide = (corner.moduleAcross.length + across.moduleAcross.length) / 2
        let high = (corner.moduleDown.length + down.moduleDown.length) / 2
        module = (wide + high) / 2
        let measured = (toAcross.length / max(wide, 0.1) + toDown.length / max(high, 0.1)) / 2 + 7

        let rowChanges = binary.changes(
            from: corner.places[2] + corner.moduleDown * 0.5,
            to: across.places[3] + across.moduleDown * 0.5)
        let columnChanges = binary.changes(
            from: corner.places[2] + corner.moduleAcross * 0.5,
            to: down.places[1] + down.moduleAcross * 0.5)
        modules = Self.modules(measured, rowChanges, columnChanges)
        timing = Double(rowChanges + columnChanges) / (2 * Double(modules - 13))
        rings = [corner, across, down]
    }

    private init(modules: Int, module: Double, timing: Double, rings: [Ring]) {
        self.modules = modules
        self.module = module
        self.timing = timing
        self.rings = rings
    }

    /// The same position with a different number of modules.
    func with(modules: Int) -> SymbolFrame {
        SymbolFrame(modules: modules, module: module, timing: timing, rings: rings)
    }

    /// From the symbol, 0 to 1 in each direction, to the image; `nil` if the corners do not
    /// determine it.
    func projection(isAffine: Bool) -> Projection? { Projection(pairs, isAffine: isAffine) }

    /// The size that fits the distances, or the exact size from the timing patterns if both
    /// patterns agree.
    private static func modules(_ measured: Double, _ row: Int, _ column: Int) -> Int {
        // The pattern alternates between dark and light from one finder pattern to the next.
        let counted = row + 13
        if row == column, (counted - 17) % 4 == 0, (21...177).contains(counted),
            abs(Double(counted) - measured) < 0.2 * measured
        {
            return counted
        }
        let version = min(max(((measured - 17) / 4).rounded(), 1), 40)
        return 17 + 4 * Int(version)
    }

    /// Positions in the symbol, 0 to 1 in each direction, and in the image.
    var pairs: [(symbol: Point, picture: Point)] {
        let near = 3.5
        let far = Double(modules) - 3.5
        let centres = [Point(x: near, y: near), Point(x: far, y: near), Point(x: near, y: far)]
        return zip(centres, rings).flatMap { centre, ring in
            zip(Ring.offsets, ring.places).map { offset, place in
                ((centre + offset) * (1 / Double(modules)), place)
            }
        }
    }
}

/// The outer corners of a finder pattern's inner ring, which is five modules wide.
private struct Ring {
    /// The offsets of the corners from the pattern's centre, in modules: clockwise from the top
    /// left.
    static let offsets = [
        Point(x: -2.5, y: -2.5), Point(x: 2.5, y: -2.5), Point(x: 2.5, y: 2.5),
        Point(x: -2.5, y: 2.5),
    ]

    /// The four corners in the image.
    let places: [Point]

    init(_ places: [Point]) { self.places = places }

    /// One module to the right, and one down, in the image.
    var moduleAcross: Point {
        (places[1] - places[0] + places[2] - places[3]) * 0.1
    }

    var moduleDown: Point {
        (places[3] - places[0] + places[2] - places[1]) * 0.1
    }
}

extension GrayImage {
    /// The number of colour changes along the line between two points.
    func changes(from start: Point, to end: Point) -> Int {
        let way = end - start
        let steps = min(Int(way.length.rounded(.up)) + 1, 2 * (width + height))
        return unsafe pixels.withUnsafeBufferPointer { pixels in
            var changes = 0
            var last: UInt8?
            for step in 0...steps {
                let place = start + way * (Double(step) / Double(steps))
                let x = min(max(Int(place.x), 0), width - 1)
                let y = min(max(Int(place.y), 0), height - 1)
                let colour = unsafe pixels[y &* width &+ x]
                if let last, last != colour { changes += 1 }
                last = colour
            }
            return changes
        }
    }
}

extension SymbolFrame {
    /// The projection, refined with the alignment patterns found near their expected positions.
    ///
    /// Three finder patterns do not determine the fourth corner; the alignment pattern near it
    /// does.
    func refinedProjection(
        _ rough: Projection, _ patterns: FunctionPatterns, in picture: GrayImage, isInverted: Bool
    ) -> Projection {
        guard let nearest = patterns.alignments.first else { return rough }
        let scale = 1 / Double(modules)
        func view(_ projection: Projection) -> SymbolView {
            SymbolView(
                picture: picture, projection: projection, modules: modules, isInverted: isInverted)
        }
        var found = pairs
        var refined = rough
        // The larger the symbol, the less accurate the prediction from three corners.
        let reach = 1.5 + Double(modules) / 40
        if let place = view(rough).alignment(near: nearest, reach: reach) {
            // The alignment pattern counts three times, to give it some weight against the twelve
            // corners of the finder patterns.
            found += [(symbol: Point, picture: Point)](
                repeating: (nearest * scale, rough(place * scale)), count: 3)
            refined = Projection(found, isAffine: false) ?? rough
        }
        // The largest symbols have 46; half of them are enough.
        for middle in patterns.alignments.dropFirst().prefix(24) {
            guard let place = view(refined).alignment(near: middle, reach: 1) else { continue }
            found.append((middle * scale, refined(place * scale)))
        }
        return Projection(found, isAffine: false) ?? refined
    }
}

extension SymbolView {
    /// The position of the alignment pattern with its expected centre at `expected`, in modules.
    ///
    /// The search uses steps of half a module with a quick check at each point, then finer steps
    /// with a thorough check around the best point.
    fileprivate func alignment(near expected: Point, reach: Double) -> Point? {
        // Any area of data modules has some contrast; at least half of the finder pattern's
        // contrast counts as a match.
        let middle = Point(x: 3.5, y: 3.5)
        let own = brightness(at: middle + Point(x: 2, y: 0)) - brightness(at: middle)
        let least = max(own / 2, 6)
        let wide = AlignmentPatch(self, around: expected, stepsPerModule: 2, reach: Int(reach * 2))
        guard let rough = wide.best(above: least) else { return nil }
        let near = AlignmentPatch(
            self, around: rough, stepsPerModule: 4, reach: 1, isAveraged: true)
        return near.best(above: near.contrast(row: 0, column: 0)) ?? rough
    }
}

/// The brightness around the expected place of an alignment pattern, on a square grid.
///
/// The modules of neighbouring positions fall on the same grid points, so each point of the image
/// is projected and sampled once.
struct AlignmentPatch {
    private let centre: Point
    private let stepsPerModule: Int
    /// How far from the centre the pattern may be, in steps.
    private let reach: Int
    private let isAveraged: Bool
    private let isInverted: Bool
    /// The number of grid points on each side of the centre.
    private let margin: Int
    private let samples: [Float]

    /// - Parameters:
    ///   - centre: the expected place in modules.
    ///   - reach: how far from the centre the pattern may be, in steps.
    ///   - isAveraged: whether a module's brightness is the mean of nine points, not the brightness
    ///     of its centre.
    init(
        _ view: SymbolView, around centre: Point, stepsPerModule: Int, reach: Int,
        isAveraged: Bool = false
    ) {
        self.centre = centre
        self.stepsPerModule = stepsPerModule
        self.reach = reach
        self.isAveraged = isAveraged
        isInverted = view.isInverted
        margin = reach + 2 * stepsPerModule + (isAveraged ? 1 : 0)
        samples = view.samples(around: centre, step: 1 / Double(stepsPerModule), count: margin)
    }

    /// The place with the highest contrast, in modules, if it exceeds `least`.
    func best(above least: Float) -> Point? {
        var best = least
        var found: Point?
        for row in -reach...reach {
            for column in -reach...reach {
                let contrast = contrast(row: row, column: column)
                if contrast > best {
                    best = contrast
                    let step = 1 / Double(stepsPerModule)
                    found = centre + Point(x: Double(column), y: Double(row)) * step
                }
            }
        }
        return found
    }

    /// The contrast of an alignment pattern at this offset from the centre, in steps: the
    /// brightness of its light ring minus the brightness of its dark parts.
    func contrast(row: Int, column: Int) -> Float {
        var light: Float = 0
        var dark: Float = 0
        for down in -2...2 {
            for across in -2...2 {
                let seen = brightness(
                    row: row + down * stepsPerModule, column: column + across * stepsPerModule)
                if max(abs(down), abs(across)) == 1 { light += seen } else { dark += seen }
            }
        }
        return light / 8 - dark / 17
    }

    private func brightness(row: Int, column: Int) -> Float {
        let index = (row + margin) * (2 * margin + 1) + column + margin
        var seen = samples[index]
        if isAveraged {
            seen = 0
            for down in -1...1 {
                for across in -1...1 { seen += samples[index + down * (2 * margin + 1) + across] }
            }
            seen /= 9
        }
        return isInverted ? 255 - seen : seen
    }
}
