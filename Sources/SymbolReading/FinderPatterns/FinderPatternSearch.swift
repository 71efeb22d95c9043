import Raster

/// Finds symbols by their finder patterns, and passes each to a reader, rectified and framed.
///
/// zbar looks for patterns along straight lines with its own threshold. A symbol that it misses
/// because of perspective, a missing margin, uneven light or inverted colours is often readable
/// once it is cut out.
struct FinderPatternSearch {
    private let picture: GrayImage
    private let binary: GrayImage
    private let regions: Regions
    private let patterns: [FinderPattern]

    /// Looks for patterns in `picture`, whose black-and-white form is `binary`, outside earlier
    /// symbols.
    init(_ picture: GrayImage, binary: GrayImage, outside outlines: [[Point]]) {
        self.picture = picture
        self.binary = binary
        let regions = Regions(binary)
        self.regions = regions
        let found = regions.cores.compactMap { FinderPattern(core: $0, in: regions) }
        let fresh = found.filter { pattern in
            !outlines.contains { pattern.centre.isInside($0) }
        }
        // Large ones first: a pattern that fills the page is more likely to be a symbol than
        // texture.
        patterns = Array(fresh.sorted { $0.module > $1.module }.prefix(64))
    }

    /// For each symbol, calls `read` with one view after another until one of them is read.
    ///
    /// - Parameter read: returns whether it read the view, and whether to continue.
    /// - Returns: the outlines of the symbols that were read.
    func show<Failure>(
        to read: (GrayImage) throws(Failure) -> ViewOutcome
    ) throws(Failure) -> [[Point]] {
        var outlines: [[Point]] = []
        var used: Set<Int> = []
        var shown = 0
        let triplets = FinderTriplet.all(among: patterns)
        for triplet in triplets.prefix(2_000) where used.isDisjoint(with: triplet.rings) {
            let frame = SymbolFrame(triplet, in: regions, of: binary)
            // Text produces hundreds of triplets, but without timing patterns between them. If
            // there are at most three triplets, they are passed on even if blur hides their timing
            // patterns.
            guard triplets.count <= 3 || (0.6...1.4).contains(frame.timing) else { continue }
            guard shown < 24 else { break }
            shown += 1
            switch try show(frame, isDark: triplet.corner.isDark, to: read) {
            case .read(let outline):
                outlines.append(outline)
                used.formUnion(triplet.rings)
            case .notRead: continue
            case .stopped: return outlines
            }
        }
        return outlines
    }

    private func show<Failure>(
        _ frame: SymbolFrame, isDark: Bool, to read: (GrayImage) throws(Failure) -> ViewOutcome
    ) throws(Failure) -> FrameOutcome {
        let patterns = FunctionPatterns(modules: frame.modules)
        for isAffine in [false, true] {
            guard let rough = frame.projection(isAffine: isAffine) else { continue }
            let projection = frame.refinedProjection(
                rough, patterns, in: picture, isInverted: !isDark)
            let view = SymbolView(
                picture: picture, projection: projection, modules: frame.modules,
                isInverted: !isDark)
            let brightness = view.modulesBrightness()
            let grids = [
                ModuleGrid(brightness, patterns),
                ModuleGrid(brightness, patterns, radius: 5),
            ]
            // The first view is nearly always enough; the others are drawn only when needed.
            var views = grids.filter { $0.likeness > 0.75 }.map { grid in { grid.drawing() } }
            lazy var straight = picture.rectified(frame, projection, isInverted: !isDark)
            views += [
                { straight }, { straight.thresholdedByOtsu() },
                { straight.thresholdedByMean(radius: straight.width / 16) },
            ]
            for view in views {
                switch try read(view()) {
                case .read:
                    let corners = [(0.0, 0.0), (1, 0), (1, 1), (0, 1)]
                    return .read(corners.map { projection(Point(x: $0, y: $1)) })
                case .notRead: continue
                case .stopped: return .stopped
                }
            }
        }
        return .notRead
    }
}

/// The result of reading one view.
enum ViewOutcome {
    case read
    case notRead
    /// The deadline has passed.
    case stopped
}

private enum FrameOutcome {
    case read([Point])
    case notRead
    case stopped
}
