import Raster

/// Finds symbols by their finder patterns, and shows each to a reader straightened and framed.
///
/// zbar looks for patterns along straight lines through a threshold of its own. What it misses for
/// a slant, a missing margin, uneven light or inverted colours is often plain once it is cut out.
struct FinderRescue {
    private let picture: GrayImage
    private let binary: GrayImage
    private let regions: Regions
    private let patterns: [FinderPattern]

    /// Looks for patterns in `picture`, black and white as `binary`, leaving out what was read.
    init(_ picture: GrayImage, binary: GrayImage, outside outlines: [[Point]]) {
        self.picture = picture
        self.binary = binary
        let regions = Regions(binary)
        self.regions = regions
        let found = regions.cores.compactMap { FinderPattern(core: $0, in: regions) }
        let fresh = found.filter { pattern in
            !outlines.contains { pattern.centre.isInside($0) }
        }
        // Large ones first: what fills the page is more often a symbol than its texture.
        patterns = Array(fresh.sorted { $0.module > $1.module }.prefix(64))
    }

    /// Shows `read` one symbol after the other, each in several views until it has read one.
    ///
    /// - Parameter read: Says whether it went well, and whether to go on.
    /// - Returns: The outlines of the symbols that were read.
    func show<Failure>(
        to read: (GrayImage) throws(Failure) -> ViewOutcome
    ) throws(Failure) -> [[Point]] {
        var outlines: [[Point]] = []
        var used: Set<Int> = []
        var shown = 0
        let triplets = FinderTriplet.all(among: patterns)
        for triplet in triplets.prefix(2_000) where used.isDisjoint(with: triplet.rings) {
            let frame = SymbolFrame(triplet, in: regions, of: binary)
            // Letters make triplets by the hundred, but no timing patterns between them. A lone
            // triplet is shown even if blur has swallowed those.
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
            // Nearly always the first does; the rest is drawn only when it is asked for.
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

/// What a reader says of one view.
enum ViewOutcome {
    case read
    case notRead
    /// There is no time for more.
    case stopped
}

private enum FrameOutcome {
    case read([Point])
    case notRead
    case stopped
}
