import Raster

extension GrayImage {
    /// Black where a pixel is darker than the mean of the square around it minus `bias`, otherwise
    /// white.
    ///
    /// It uses running sums, so the time does not depend on the window.
    ///
    /// - Parameter radius: half of the window's side.
    func thresholdedByMean(radius: Int, bias: Int = 5) -> GrayImage {
        unsafe drawn(width: width, height: height) { source, target in
            var columns = WindowColumns(width: width, height: height, radius: radius)
            for row in 0..<height {
                unsafe columns.slide(to: row, in: source)
                columns.forEachSum { column, sum, count in
                    let index = row * width + column
                    let isDark = unsafe (Int(source[index]) &+ bias) &* count < sum
                    unsafe target[index] = isDark ? 0 : 255
                }
            }
        }
    }

    /// Black up to the brightness that best separates the picture's two groups, otherwise white
    /// (Otsu 1979).
    func thresholdedByOtsu() -> GrayImage {
        let limit = otsuThreshold()
        return unsafe drawn(width: width, height: height) { source, target in
            for index in source.indices {
                unsafe target[index] = source[index] <= limit ? 0 : 255
            }
        }
    }

    private func otsuThreshold() -> UInt8 {
        var histogram = [Int](repeating: 0, count: 256)
        for value in pixels { histogram[Int(value)] += 1 }
        let total = Double(pixels.count)
        let sum = Double(histogram.indices.reduce(0) { $0 + $1 * histogram[$1] })
        var below = 0.0
        var sumBelow = 0.0
        var best = (spread: -1.0, value: 127)
        for value in 0..<255 {
            below += Double(histogram[value])
            sumBelow += Double(value * histogram[value])
            let above = total - below
            guard below > 0, above > 0 else { continue }
            let distance = sumBelow / below - (sum - sumBelow) / above
            let spread = below * above * distance * distance
            if spread > best.spread { best = (spread, value) }
        }
        return UInt8(best.value)
    }
}

/// Running sums of each column over the rows of a square window, for one row after another.
struct WindowColumns {
    private let width: Int
    private let height: Int
    private let radius: Int
    private var sums: [Int32]
    private var rows = 0..<0

    init(width: Int, height: Int, radius: Int) {
        self.width = width
        self.height = height
        self.radius = radius
        sums = [Int32](repeating: 0, count: width)
    }

    /// Updates the sums to the window around `row`.
    ///
    /// Rows must come in order.
    mutating func slide(to row: Int, in source: UnsafeBufferPointer<UInt8>) {
        let wanted = max(row - radius, 0)..<min(row + radius + 1, height)
        unsafe sums.withUnsafeMutableBufferPointer { sums in
            for entering in rows.upperBound..<wanted.upperBound {
                for column in 0..<width {
                    unsafe sums[column] &+= Int32(source[entering * width + column])
                }
            }
            for leaving in rows.lowerBound..<wanted.lowerBound {
                for column in 0..<width {
                    unsafe sums[column] &-= Int32(source[leaving * width + column])
                }
            }
        }
        rows = wanted
    }

    /// Calls `body` with each column, the sum of its window and the number of pixels in it.
    @inline(__always)
    func forEachSum(_ body: (_ column: Int, _ sum: Int, _ count: Int) -> Void) {
        let full = 2 * radius + 1
        unsafe sums.withUnsafeBufferPointer { sums in
            var sum = 0
            for column in 0..<min(radius, width) { unsafe sum &+= Int(sums[column]) }
            // The middle is not near an edge, so its loop needs no comparisons.
            let middle = min(radius + 1, width)..<max(width - radius, min(radius + 1, width))
            for column in 0..<middle.lowerBound {
                if column + radius < width { unsafe sum &+= Int(sums[column + radius]) }
                body(column, sum, min(column + radius + 1, width) &* rows.count)
            }
            for column in middle {
                unsafe sum &+= Int(sums[column &+ radius]) &- Int(sums[column &- radius &- 1])
                body(column, sum, full &* rows.count)
            }
            for column in middle.upperBound..<width {
                unsafe sum &-= Int(sums[column - radius - 1])
                body(column, sum, (width - column + radius) &* rows.count)
            }
        }
    }
}
