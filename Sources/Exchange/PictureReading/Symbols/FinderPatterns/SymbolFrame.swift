import QRDrawing

/// The likely position of a symbol: the corners of its finder patterns' rings, and its size.
struct SymbolFrame {
    /// The number of modules per side: 21 to 177.
    let modules: Int
    /// The side of a module in the picture, in pixels.
    let module: Double
    /// The colour changes in the timing patterns, as a share of the expected number.
    let timing: Double
    /// The rings of the finder patterns at the corner, across and down.
    private let rings: [Ring]

    /// Measures the symbol of a triplet in the black-and-white picture in which it was found.
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

    /// The same position with another number of modules.
    func with(modules: Int) -> SymbolFrame {
        SymbolFrame(modules: modules, module: module, timing: timing, rings: rings)
    }

    /// From the symbol, 0 to 1 in each direction, to the picture; `nil` if the corners do not
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

    /// Positions in the symbol, 0 to 1 in each direction, and in the picture.
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

    /// The four corners in the picture.
    let places: [Point]

    init(_ places: [Point]) { self.places = places }

    /// One module to the right, and one down, in the picture.
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
