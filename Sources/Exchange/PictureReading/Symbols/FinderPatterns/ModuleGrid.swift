import QRDrawing

/// A symbol read module by module, and redrawn with correct function patterns.
struct ModuleGrid {
    private let dark: [Bool]
    private let patterns: FunctionPatterns

    /// - Parameter dark: whether each module is dark, row by row.
    init(_ dark: [Bool], _ patterns: FunctionPatterns) {
        self.dark = dark
        self.patterns = patterns
    }

    /// Treats a module as dark if it is darker in `brightness` than the mean of those around it.
    init(_ brightness: GrayImage, _ patterns: FunctionPatterns, radius: Int) {
        self.patterns = patterns
        dark = brightness.thresholdedByMean(radius: radius, bias: 0).pixels.map { $0 == 0 }
    }

    /// Treats a module as dark if it belongs to the darker of the two groups into which all modules
    /// are divided.
    init(_ brightness: GrayImage, _ patterns: FunctionPatterns) {
        self.patterns = patterns
        dark = brightness.thresholdedByOtsu().pixels.map { $0 == 0 }
    }

    /// The share of the function patterns' modules that have the right colour; about half if there
    /// is no symbol.
    var likeness: Double {
        var all = 0
        var right = 0
        for (index, expected) in patterns.known.enumerated() {
            guard let expected else { continue }
            all += 1
            if dark[index] == expected { right += 1 }
        }
        return Double(right) / Double(all)
    }

    /// The symbol with sharp edges, a margin and the correct function patterns.
    func drawing() -> GrayImage {
        let scale = 3
        let margin = 4
        let modules = patterns.modules
        let side = (modules + 2 * margin) * scale
        var pixels = [UInt8](repeating: 255, count: side * side)
        for row in 0..<modules * scale {
            for column in 0..<modules * scale {
                let module = row / scale * modules + column / scale
                guard patterns.known[module] ?? dark[module] else { continue }
                pixels[(row + margin * scale) * side + column + margin * scale] = 0
            }
        }
        return GrayImage(width: side, height: side, pixels: pixels)
    }
}
