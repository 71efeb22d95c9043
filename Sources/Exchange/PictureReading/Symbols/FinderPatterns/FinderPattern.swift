import QRDrawing

/// One of the three squares in a symbol's corners (ISO/IEC 18004, 6.3.3).
///
/// It consists of a core of 3 × 3 modules, a ring of the other colour (5 × 5 modules), and an outer
/// ring of the core's colour.
struct FinderPattern {
    let centre: Point
    /// The module size in pixels, from the area within the inner ring's outline.
    let module: Double
    /// Whether the core is dark, as in a symbol that is not inverted.
    let isDark: Bool
    /// The region number of the inner ring.
    ///
    /// The outer ring may be merged with its surroundings.
    let ring: Int

    /// Accepts `core` if the regions around it have the sizes and positions of a finder pattern.
    init?(core: Int, in regions: Regions) {
        let inner = regions[core]
        guard inner.area >= 4, let ringNumber = regions.surrounding(core) else { return nil }
        let ring = regions[ringNumber]
        // The ring around a core looks like a core itself, except at its centre.
        guard regions.number(at: inner.centre) == core else { return nil }
        // The ring has 16 modules and the core 9, if nothing is blurred or broken.
        let share = Double(ring.area) / Double(inner.area)
        guard ring.surrounds(inner), (0.6...5).contains(share),
            Self.isSquarish(inner), Self.isSquarish(ring),
            let outerNumber = regions.surrounding(ringNumber),
            regions[outerNumber].surrounds(ring)
        else { return nil }
        // 5 modules to 3.
        let widths = ring.width / inner.width
        let heights = ring.height / inner.height
        guard (1.15...3).contains(widths), (1.15...3).contains(heights),
            (ring.centre - inner.centre).length < 0.15 * max(ring.width, ring.height),
            // A square that is rotated by 45° fills half of its bounding box.
            Double(ring.area + inner.area) > 0.42 * ring.width * ring.height
        else { return nil }
        centre = (ring.centre + inner.centre) * 0.5
        module = (Double(ring.area + inner.area) / 25).squareRoot()
        isDark = regions.isDark(core)
        self.ring = ringNumber
    }

    private static func isSquarish(_ region: Region) -> Bool {
        (0.4...2.5).contains(region.width / region.height)
    }
}

/// Three finder patterns that may belong to one symbol: similar in size, with a right angle at the
/// first.
struct FinderTriplet {
    /// The pattern at the right angle.
    let corner: FinderPattern
    let across: FinderPattern
    let down: FinderPattern
    /// The deviation from the ideal: 0 for equal sizes, equal legs and a right angle.
    let deviation: Double

    /// Tests the three patterns with `corner` at the right angle; `nil` if they cannot belong to
    /// one symbol.
    init?(corner: FinderPattern, _ a: FinderPattern, _ b: FinderPattern) {
        let toA = a.centre - corner.centre
        let toB = b.centre - corner.centre
        let cosine = toA.dot(toB) / (toA.length * toB.length)
        let legs = toA.length / toB.length
        guard abs(cosine) < 0.6, (0.5...2).contains(legs) else { return nil }
        let smallest = min(corner.module, a.module, b.module)
        let largest = max(corner.module, a.module, b.module)
        // Version 1 has 14 modules between two centres, version 40 has 170.
        let reach = 9 * smallest...240 * largest
        guard largest < Self.likeness * smallest, reach.contains(toA.length),
            reach.contains(toB.length)
        else { return nil }
        self.corner = corner
        let turnsRight = toA.cross(toB) > 0
        across = turnsRight ? a : b
        down = turnsRight ? b : a
        deviation = (largest / smallest - 1) + (max(legs, 1 / legs) - 1) + abs(cosine)
    }

    /// The largest size ratio of two patterns in a symbol that is seen at an angle.
    private static let likeness = 2.5

    /// All triplets among the patterns, the most likely first.
    ///
    /// The other two patterns of a symbol are among the nearest patterns of similar size.
    static func all(among patterns: [FinderPattern]) -> [FinderTriplet] {
        var found: [FinderTriplet] = []
        for (index, corner) in patterns.enumerated() {
            let others = patterns.indices.filter { other in
                let pattern = patterns[other]
                return other != index && pattern.isDark == corner.isDark
                    && pattern.module < likeness * corner.module
                    && corner.module < likeness * pattern.module
            }
            let near = others.map { patterns[$0] }.sorted {
                ($0.centre - corner.centre).length < ($1.centre - corner.centre).length
            }.prefix(16)
            for (position, a) in near.enumerated() {
                for b in near[(position + 1)...] {
                    if let triplet = FinderTriplet(corner: corner, a, b) { found.append(triplet) }
                }
            }
        }
        return found.sorted { $0.deviation < $1.deviation }
    }

    /// The regions that identify its patterns.
    var rings: Set<Int> { [corner.ring, across.ring, down.ring] }
}

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
        // Large patterns first: a pattern that fills the page is more likely to be a symbol than
        // texture.
        patterns = Array(fresh.sorted { $0.module > $1.module }.prefix(256))
    }

    /// For each symbol, calls `read` with one view after another until one of them is read.
    ///
    /// - Parameter read: returns whether it read the view, and whether to continue.
    func show<Failure>(
        to read: (GrayImage) throws(Failure) -> ViewOutcome
    ) throws(Failure) -> FinderPatternSearchOutcome {
        var outcome = FinderPatternSearchOutcome()
        var used: Set<Int> = []
        var measured = 0
        var failures = 0
        let triplets = FinderTriplet.all(among: patterns)
        for triplet in triplets where used.isDisjoint(with: triplet.rings) {
            // A page of text can have thousands of triplets; the true triplets of a page with a
            // hundred symbols are among the first.
            guard measured < 600, failures < 24 else { break }
            measured += 1
            let frame = SymbolFrame(triplet, in: regions, of: binary)
            // Text produces hundreds of triplets, but without timing patterns between them. If
            // there are at most three triplets, they are passed on even if blur hides their timing
            // patterns.
            guard triplets.count <= 3 || (0.6...1.4).contains(frame.timing) else { continue }
            let candidate = SymbolCandidate(
                frame: frame, picture: picture, isInverted: !triplet.corner.isDark)
            switch try candidate.show(isThorough: failures < 8, to: read) {
            case .read(let outline):
                outcome.outlines.append(outline)
                used.formUnion(triplet.rings)
            case .notRead(let looksLikeSymbol):
                failures += 1
                outcome.missedSymbol = outcome.missedSymbol || looksLikeSymbol
            case .stopped: return outcome
            }
        }
        return outcome
    }
}

/// The result of a search.
struct FinderPatternSearchOutcome {
    /// The outlines of the symbols that were read.
    var outlines: [[Point]] = []
    /// Whether something that looks like a symbol could not be read.
    var missedSymbol = false
}

/// The result of reading one view.
enum ViewOutcome {
    case read
    case notRead
    /// The deadline has passed.
    case stopped
}

/// A possible symbol in an image, and the views of it that a reader may be able to read.
struct SymbolCandidate {
    let frame: SymbolFrame
    let picture: GrayImage
    /// Whether light and dark are exchanged.
    let isInverted: Bool

    /// The result of reading a candidate.
    enum Outcome {
        /// The symbol was read; its corners in the image, in order.
        case read([Point])
        case notRead(looksLikeSymbol: Bool)
        /// The deadline has passed.
        case stopped
    }

    /// Calls `read` with one view after another until one of them is read.
    ///
    /// - Parameter isThorough: whether to also try the slow methods: fitting and deblurring.
    func show<Failure>(
        isThorough: Bool, to read: (GrayImage) throws(Failure) -> ViewOutcome
    ) throws(Failure) -> Outcome {
        let patterns = FunctionPatterns(modules: frame.modules)
        for isAffine in [false, true] {
            guard let view = view(frame, patterns, isAffine: isAffine) else { continue }
            let seen = SampledSymbol(view, patterns)
            // If the timing patterns do not match at all, the size may be wrong.
            guard seen.match > 0.3 else { continue }
            for drawing in seen.drawings() {
                switch try read(drawing()) {
                case .read: return .read(view.outline)
                case .stopped: return .stopped
                case .notRead: continue
                }
            }
        }
        return isThorough ? try showFitted(to: read) : .notRead(looksLikeSymbol: false)
    }

    /// Fits the corners to the function patterns of several sizes, and reverses blur.
    private func showFitted<Failure>(
        to read: (GrayImage) throws(Failure) -> ViewOutcome
    ) throws(Failure) -> Outcome {
        let fits = fits()
        for fit in fits where fit.match > 0.6 {
            let brightness = fit.view.modulesBrightness()
            let restored = Deblurring(brightness, fit.patterns).grids()
            for grid in fit.grids(brightness) + restored {
                switch try read(grid.drawing()) {
                case .read: return .read(fit.view.outline)
                case .stopped: return .stopped
                case .notRead: continue
                }
            }
        }
        return .notRead(looksLikeSymbol: fits.contains { $0.match > 0.6 })
    }

    /// The best position for each likely size, the best first.
    private func fits() -> [SampledSymbol] {
        // Blur makes the finder patterns look smaller, so the symbol seems to have more modules.
        let sizes = [0, -4, 4, -8].map { frame.modules + $0 }.filter { (21...177).contains($0) }
        let rough = sizes.compactMap { modules -> SampledSymbol? in
            let patterns = FunctionPatterns(modules: modules)
            let view = view(frame.with(modules: modules), patterns, isAffine: false)
            return view.map { SampledSymbol($0, patterns) }
        }
        let likely = rough.sorted { $0.match > $1.match }.prefix(2)
        return likely.map { SampledSymbol($0.view.fitted(to: $0.patterns), $0.patterns) }
            .sorted { $0.match > $1.match }
    }

    private func view(
        _ frame: SymbolFrame, _ patterns: FunctionPatterns, isAffine: Bool
    ) -> SymbolView? {
        guard let rough = frame.projection(isAffine: isAffine) else { return nil }
        let projection = frame.refinedProjection(
            rough, patterns, in: picture, isInverted: isInverted)
        return SymbolView(
            picture: picture, projection: projection, modules: frame.modules,
            isInverted: isInverted)
    }
}

/// A symbol whose modules were sampled in an image.
private struct SampledSymbol {
    let view: SymbolView
    let patterns: FunctionPatterns
    /// The correlation with the function patterns.
    let match: Float

    init(_ view: SymbolView, _ patterns: FunctionPatterns) {
        self.view = view
        self.patterns = patterns
        match = PatternMask(patterns).match(of: view)
    }

    func grids(_ brightness: GrayImage) -> [ModuleGrid] {
        [ModuleGrid(brightness, patterns), ModuleGrid(brightness, patterns, radius: 5)]
    }

    /// Images of the symbol.
    ///
    /// The first image is nearly always enough; the other images are drawn only when needed.
    func drawings() -> [() -> GrayImage] {
        let drawn = grids(view.modulesBrightness()).filter { $0.likeness > 0.75 }.map { grid in
            { grid.drawing() }
        }
        let straight = LazyPicture(draw: view.rectified)
        return drawn + [
            { straight.picture }, { straight.picture.thresholdedByOtsu() },
            { straight.picture.thresholdedByMean(radius: straight.picture.width / 16) },
        ]
    }
}

/// An image that is drawn when it is first needed.
private final class LazyPicture {
    private(set) lazy var picture = draw()
    private let draw: () -> GrayImage

    init(draw: @escaping () -> GrayImage) { self.draw = draw }
}
