import QRDrawing

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
            // A page of text can have thousands of triplets; those of a page with a hundred symbols
            // are among the first.
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

/// What a search found.
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
