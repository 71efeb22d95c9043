import QRDrawing

/// A possible symbol in a picture, and the views of it that a reader may be able to read.
struct SymbolCandidate {
    let frame: SymbolFrame
    let picture: GrayImage
    /// Whether light and dark are exchanged.
    let isInverted: Bool

    /// The result of reading a candidate.
    enum Outcome {
        /// The symbol was read; its corners in the picture, in order.
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

/// A symbol whose modules were sampled in a picture.
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

    /// Pictures of the symbol.
    ///
    /// The first is nearly always enough; the others are drawn only when needed.
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

/// A picture that is drawn when it is first needed.
private final class LazyPicture {
    private(set) lazy var picture = draw()
    private let draw: () -> GrayImage

    init(draw: @escaping () -> GrayImage) { self.draw = draw }
}
