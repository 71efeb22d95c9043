import Raster

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
        guard
            let rough = best(
                around: expected, step: 0.5, count: Int(reach / 0.5), above: least, isQuick: true)
        else { return nil }
        let contrast = alignmentContrast(at: rough, isQuick: false)
        return best(around: rough, step: 0.25, count: 1, above: contrast, isQuick: false) ?? rough
    }

    /// The point with the highest contrast on a grid of `count` steps each way, if it exceeds
    /// `least`.
    private func best(
        around centre: Point, step: Double, count: Int, above least: Float, isQuick: Bool
    ) -> Point? {
        var best = least
        var found: Point?
        for row in -count...count {
            for column in -count...count {
                let place = centre + Point(x: Double(column), y: Double(row)) * step
                let contrast = alignmentContrast(at: place, isQuick: isQuick)
                if contrast > best {
                    best = contrast
                    found = place
                }
            }
        }
        return found
    }
}
