import QRDrawing

extension GrayImage {
    /// Black where a pixel is darker than the mean of the square around it minus `bias`, otherwise
    /// white.
    ///
    /// It uses running sums, so the time does not depend on the window.
    ///
    /// - Parameter radius: half of the window's side.
    func thresholdedByMean(radius: Int, bias: Int32 = 5) -> GrayImage {
        unsafe drawn(width: width, height: height) { source, target in
            var windows = WindowSums(width: width, height: height, radius: radius)
            for row in 0..<height {
                unsafe windows.slide(to: row, in: source)
                let start = row &* width
                unsafe windows.withRow { sums, counts in
                    for column in 0..<width {
                        let own = unsafe Int32(source[start &+ column]) &+ bias
                        let isDark = unsafe own &* counts[column] < sums[column]
                        unsafe target[start &+ column] = isDark ? 0 : 255
                    }
                }
            }
        }
    }

    /// Black up to the brightness that best separates the image's two groups, otherwise white
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

/// The sum of the square window around each pixel of a row, for one row after another.
///
/// Each loop does one simple thing to a whole row, so that the compiler can use vector
/// instructions. 32 bits hold the sum of a window of 2,800 × 2,800 pixels.
struct WindowSums {
    private let width: Int
    private let height: Int
    private let radius: Int
    /// The rows of the current window.
    private var rows = 0..<0
    /// The sum of each column over `rows`.
    private var columns: [Int32]
    /// The sum of the window around each pixel, and the number of pixels in it.
    private var sums: [Int32]
    private var counts: [Int32]

    init(width: Int, height: Int, radius: Int) {
        self.width = width
        self.height = height
        self.radius = radius
        columns = [Int32](repeating: 0, count: width)
        sums = columns
        counts = columns
    }

    /// Lends the sums and counts for the current row.
    @inline(__always)
    func withRow(
        _ body: (_ sums: UnsafeBufferPointer<Int32>, _ counts: UnsafeBufferPointer<Int32>) -> Void
    ) {
        unsafe sums.withUnsafeBufferPointer { sums in
            unsafe counts.withUnsafeBufferPointer { counts in unsafe body(sums, counts) }
        }
    }

    /// Updates the sums to the windows around the pixels of `row`.
    ///
    /// Rows must come in order.
    mutating func slide(to row: Int, in source: UnsafeBufferPointer<UInt8>) {
        let wanted = max(row - radius, 0)..<min(row + radius + 1, height)
        let entering = rows.upperBound..<wanted.upperBound
        let leaving = rows.lowerBound..<wanted.lowerBound
        if entering.count == 1, leaving.count == 1 {
            unsafe exchange(leaving.lowerBound, for: entering.lowerBound, in: source)
        } else {
            for row in entering { unsafe add(row, times: 1, in: source) }
            for row in leaving { unsafe add(row, times: -1, in: source) }
        }
        if rows.count != wanted.count { count(rows: wanted.count) }
        rows = wanted
        sumWindows()
    }

    private mutating func exchange(
        _ leaving: Int, for entering: Int, in source: UnsafeBufferPointer<UInt8>
    ) {
        let (old, new) = (leaving &* width, entering &* width)
        unsafe columns.withUnsafeMutableBufferPointer { columns in
            for column in 0..<width {
                unsafe columns[column] &+=
                    Int32(source[new &+ column]) &- Int32(source[old &+ column])
            }
        }
    }

    private mutating func add(
        _ row: Int, times sign: Int32, in source: UnsafeBufferPointer<UInt8>
    ) {
        unsafe columns.withUnsafeMutableBufferPointer { columns in
            for column in 0..<width {
                unsafe columns[column] &+= sign &* Int32(source[row &* width &+ column])
            }
        }
    }

    private mutating func count(rows: Int) {
        for column in 0..<width {
            let window = min(column + radius + 1, width) - max(column - radius, 0)
            counts[column] = Int32(window * rows)
        }
    }

    private mutating func sumWindows() {
        let (width, radius) = (width, radius)
        unsafe columns.withUnsafeBufferPointer { columns in
            unsafe sums.withUnsafeMutableBufferPointer { sums in
                var sum: Int32 = 0
                for column in 0..<min(radius, width) { unsafe sum &+= columns[column] }
                // The middle is not near an edge, so its loop needs no comparisons.
                let middle = min(radius + 1, width)..<max(width - radius, min(radius + 1, width))
                for column in 0..<middle.lowerBound {
                    if column + radius < width { unsafe sum &+= columns[column + radius] }
                    unsafe sums[column] = sum
                }
                for column in middle {
                    let (right, left) = (column &+ radius, column &- radius &- 1)
                    unsafe sum &+= columns[right] &- columns[left]
                    unsafe sums[column] = sum
                }
                for column in middle.upperBound..<width {
                    unsafe sum &-= columns[column - radius - 1]
                    unsafe sums[column] = sum
                }
            }
        }
    }
}
