import QRDrawing

/// The connected regions of a black-and-white image, and their nesting.
///
/// Pixels of one colour that share an edge belong to one region. The algorithm works on runs, which
/// are stretches of one colour in a row: each is joined with runs of its colour in the row above.
struct Regions {
    /// A stretch of one colour in one row; `end` is the column after it.
    struct Run {
        let row: Int32
        let start: Int32
        let end: Int32
        let isDark: Bool
        /// The run in the row above that contains the pixel over this run's first pixel; -1 in the
        /// top row.
        let above: Int32
    }

    private let runs: [Run]
    /// The index of each row's first run, and one more for the end.
    private let rowStarts: [Int]
    /// For each run, the first run of its region in reading order.
    private let roots: [Int32]
    /// The regions by the index of their first run; other elements are unused.
    private var regions: [Region]

    init(_ picture: GrayImage) {
        var builder = RunBuilder(picture)
        builder.build()
        runs = builder.runs
        rowStarts = builder.rowStarts
        roots = builder.flattened()
        regions = [Region](repeating: Region(), count: runs.count)
        for index in runs.indices {
            regions[Int(roots[index])].take(runs[index])
        }
    }

    /// The number of every region that does not touch the top row, and so may be inside another
    /// region.
    var cores: [Int] {
        roots.indices.filter { Int(roots[$0]) == $0 && runs[$0].above >= 0 }
    }

    /// The region with that number.
    subscript(number: Int) -> Region { regions[number] }

    func isDark(_ number: Int) -> Bool { runs[number].isDark }

    /// The region around the given region: it contains the pixel above the given region's topmost
    /// leftmost pixel.
    func surrounding(_ number: Int) -> Int? {
        let above = runs[number].above
        return above < 0 ? nil : Int(roots[Int(above)])
    }

    /// The region of the pixel at a point in the image.
    func number(at place: Point) -> Int {
        Int(roots[run(at: Int32(place.x), inRow: Int(place.y))])
    }

    /// The index of the last run of the row that does not start after the column.
    private func run(at column: Int32, inRow row: Int) -> Int {
        var low = rowStarts[row]
        var high = rowStarts[row + 1]
        while high - low > 1 {
            let middle = (low + high) / 2
            if runs[middle].start <= column { low = middle } else { high = middle }
        }
        return low
    }

    /// The outermost point of a region in each of the directions.
    func extremes(of number: Int, towards directions: [Point]) -> [Point] {
        let region = regions[number]
        var best = directions.map { _ in (reach: -Double.infinity, place: Point(x: 0, y: 0)) }
        for row in Int(region.top)...Int(region.bottom) {
            let first = run(at: region.left, inRow: row)
            for index in first..<rowStarts[row + 1] {
                let run = runs[index]
                if run.start >= region.right { break }
                guard Int(roots[index]) == number else { continue }
                for (which, direction) in directions.enumerated() {
                    // Of the run's four corners, the one in this direction.
                    let place = Point(
                        x: Double(direction.x > 0 ? run.end : run.start),
                        y: Double(direction.y > 0 ? row + 1 : row))
                    let reach = place.dot(direction)
                    if reach > best[which].reach { best[which] = (reach, place) }
                }
            }
        }
        return best.map(\.place)
    }
}

/// The area of a region and its bounding box.
struct Region {
    private(set) var area = 0
    private(set) var left = Int32.max
    private(set) var right = Int32.min
    private(set) var top = Int32.max
    private(set) var bottom = Int32.min

    var width: Double { Double(right - left) }
    var height: Double { Double(bottom - top + 1) }
    var centre: Point {
        Point(x: Double(left + right) / 2, y: Double(top + bottom + 1) / 2)
    }

    mutating func take(_ run: Regions.Run) {
        area += Int(run.end - run.start)
        left = min(left, run.start)
        right = max(right, run.end)
        top = min(top, run.row)
        bottom = max(bottom, run.row)
    }

    /// Whether the bounding box of `inner` is inside this region's, without touching any side.
    func surrounds(_ inner: Region) -> Bool {
        left < inner.left && right > inner.right && top < inner.top && bottom > inner.bottom
    }
}

/// Divides a black-and-white image into runs and joins those that touch.
struct RunBuilder {
    private let picture: GrayImage
    private(set) var runs: [Regions.Run] = []
    private(set) var rowStarts: [Int] = []
    /// For each run, an earlier run of the same region, or the run itself.
    private var parents: [Int32] = []

    init(_ picture: GrayImage) {
        self.picture = picture
        runs.reserveCapacity(picture.pixels.count / 8)
        parents.reserveCapacity(picture.pixels.count / 8)
        rowStarts.reserveCapacity(picture.height + 1)
    }

    mutating func build() {
        let picture = picture
        unsafe picture.pixels.withUnsafeBufferPointer { pixels in
            for row in 0..<picture.height {
                let start = row * picture.width
                unsafe cut(
                    row, UnsafeBufferPointer(rebasing: pixels[start..<start + picture.width]))
            }
        }
        rowStarts.append(runs.count)
    }

    /// For each run, the first run of its region in reading order.
    mutating func flattened() -> [Int32] {
        // A parent precedes its child, so one pass in order reaches every root.
        for index in parents.indices { parents[index] = parents[Int(parents[index])] }
        return parents
    }

    private mutating func cut(_ row: Int, _ pixels: UnsafeBufferPointer<UInt8>) {
        var above = rowStarts.last ?? 0
        let aboveEnd = runs.count
        rowStarts.append(runs.count)
        var start = 0
        while start < pixels.count {
            let colour = unsafe pixels[start]
            let end = unsafe pixels.endOfRun(from: start)
            while above < aboveEnd, runs[above].end <= Int32(start) { above += 1 }
            let index = Int32(runs.count)
            parents.append(index)
            runs.append(
                Regions.Run(
                    row: Int32(row), start: Int32(start), end: Int32(end), isDark: colour == 0,
                    above: above < aboveEnd ? Int32(above) : -1))
            var neighbour = above
            while neighbour < aboveEnd, runs[neighbour].start < Int32(end) {
                if runs[neighbour].isDark == (colour == 0) { join(Int32(neighbour), index) }
                neighbour += 1
            }
            start = end
        }
    }

    /// Makes the earlier root the root of both.
    private mutating func join(_ a: Int32, _ b: Int32) {
        let first = root(a)
        let second = root(b)
        parents[Int(max(first, second))] = min(first, second)
    }

    private mutating func root(_ index: Int32) -> Int32 {
        var at = index
        while parents[Int(at)] != at {
            // Path halving speeds up later searches.
            parents[Int(at)] = parents[Int(parents[Int(at)])]
            at = parents[Int(at)]
        }
        return at
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The index after the last byte of the run of equal bytes that contains `start`.
    ///
    /// It compares eight bytes at a time.
    @inline(__always)
    fileprivate func endOfRun(from start: Int) -> Int {
        let bytes = UnsafeRawBufferPointer(self)
        let value = unsafe self[start]
        let equal = UInt64(value) &* 0x0101_0101_0101_0101
        var end = start &+ 1
        while end &+ 8 <= count {
            let next = unsafe bytes.loadUnaligned(fromByteOffset: end, as: UInt64.self)
            let difference = UInt64(littleEndian: next) ^ equal
            if difference != 0 { return end &+ difference.trailingZeroBitCount / 8 }
            end &+= 8
        }
        while unsafe end < count && self[end] == value { end &+= 1 }
        return end
    }
}
