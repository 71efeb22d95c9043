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
