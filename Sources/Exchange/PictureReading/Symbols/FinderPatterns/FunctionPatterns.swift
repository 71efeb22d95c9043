import QRDrawing

/// A symbol's finder, timing and alignment patterns, which do not depend on its text (ISO/IEC
/// 18004, 6.3.3 to 6.3.6).
struct FunctionPatterns {
    /// The number of modules per side.
    let modules: Int
    /// Row by row: dark or light, or `nil` for a module that depends on the text.
    let known: [Bool?]
    /// The centres of the alignment patterns, in modules, the lower right centre first.
    let alignments: [Point]

    /// - Parameter modules: 21 for version 1, 4 more for each version, up to 177.
    init(modules: Int) {
        self.modules = modules
        let places = Self.alignmentPlaces(modules: modules)
        var known = [Bool?](repeating: nil, count: modules * modules)
        for index in 8..<modules - 8 {
            known[6 * modules + index] = index % 2 == 0
            known[index * modules + 6] = index % 2 == 0
        }
        var alignments: [Point] = []
        for row in places.reversed() {
            for column in places.reversed() {
                let nearLeft = column == 6
                let nearTop = row == 6
                // The finder patterns occupy three corners.
                let isTaken =
                    (nearLeft && nearTop) || (nearLeft && row == modules - 7)
                    || (nearTop && column == modules - 7)
                if isTaken { continue }
                alignments.append(Point(x: Double(column) + 0.5, y: Double(row) + 0.5))
                for y in -2...2 {
                    for x in -2...2 {
                        let isDark = max(abs(x), abs(y)) != 1
                        known[(row + y) * modules + column + x] = isDark
                    }
                }
            }
        }
        for (left, top) in [(0, 0), (modules - 7, 0), (0, modules - 7)] {
            for row in max(top - 1, 0)..<min(top + 8, modules) {
                for column in max(left - 1, 0)..<min(left + 8, modules) {
                    let distance = max(abs(row - top - 3), abs(column - left - 3))
                    known[row * modules + column] = distance != 2 && distance != 4
                }
            }
        }
        self.known = known
        self.alignments = alignments
    }

    /// The rows and columns of the alignment patterns' centres (table in annex E): from 6 to the
    /// seventh from the end, equally spaced except for the first step.
    private static func alignmentPlaces(modules: Int) -> [Int] {
        let version = (modules - 17) / 4
        guard version > 1 else { return [] }
        let gaps = version / 7 + 1
        let last = modules - 7
        // The smallest even step that is large enough; version 32 is the only exception in the
        // table.
        let step = version == 32 ? 26 : (last - 6 + 2 * gaps - 1) / (2 * gaps) * 2
        return [6] + (1...gaps).map { last - (gaps - $0) * step }
    }
}

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
