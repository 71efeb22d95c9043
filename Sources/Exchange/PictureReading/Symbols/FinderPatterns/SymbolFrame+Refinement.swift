import QRDrawing

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
    /// with a thorough check around the best one.
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
/// The modules of neighbouring positions fall on the same grid points, so each point of the picture
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
    ///   - isAveraged: whether a module's brightness is the mean of nine points, not that of its
    ///     centre.
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

    /// The contrast of an alignment pattern at this offset from the centre, in steps: the brightness of
    /// its light ring minus that of its dark parts.
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
