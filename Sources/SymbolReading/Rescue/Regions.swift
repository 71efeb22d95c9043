import Raster

/// The connected regions of a black and white picture, and which lies in which.
///
/// Pixels of one colour that share an edge are of one region. The work is done on runs, the
/// stretches of one colour in a row: each is joined with those of its colour in the row above.
struct Regions {
    /// A stretch of one colour in one row; `end` is the column after it.
    struct Run {
        let row: Int32
        let start: Int32
        let end: Int32
        let isDark: Bool
        /// The run of the row above that holds the pixel over this one's first; -1 in the top row.
        let above: Int32
    }

    private let runs: [Run]
    /// Index of each row's first run, and one more for the end.
    private let rowStarts: [Int]
    /// Of each run, the first run of its region in reading order.
    private let roots: [Int32]
    /// The regions by the index of their first run; the other places hold nothing of use.
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

    /// Every region that lies in another that lies in another, by number.
    var cores: [Int] {
        roots.indices.filter { Int(roots[$0]) == $0 && runs[$0].above >= 0 }
    }

    /// The region with that number.
    subscript(number: Int) -> Region { regions[number] }

    /// Whether the region is dark.
    func isDark(_ number: Int) -> Bool { runs[number].isDark }

    /// The region around another: the owner of the pixel over its topmost leftmost one.
    func surrounding(_ number: Int) -> Int? {
        let above = runs[number].above
        return above < 0 ? nil : Int(roots[Int(above)])
    }

    /// The region of the pixel at a place in the picture.
    func number(at place: Point) -> Int {
        let row = Int(place.y)
        // The last run of the row that does not start behind the place, by halving.
        var low = rowStarts[row]
        var high = rowStarts[row + 1]
        while high - low > 1 {
            let middle = (low + high) / 2
            if Int(runs[middle].start) <= Int(place.x) { low = middle } else { high = middle }
        }
        return Int(roots[low])
    }

    /// The outermost places of a region in each of the directions.
    func extremes(of number: Int, towards directions: [Point]) -> [Point] {
        let region = regions[number]
        var best = directions.map { _ in (reach: -Double.infinity, place: Point(x: 0, y: 0)) }
        for row in Int(region.top)...Int(region.bottom) {
            for index in rowStarts[row]..<rowStarts[row + 1] where Int(roots[index]) == number {
                let run = runs[index]
                for x in [Double(run.start), Double(run.end)] {
                    for y in [Double(row), Double(row + 1)] {
                        let place = Point(x: x, y: y)
                        for (which, direction) in directions.enumerated() {
                            let reach = place.dot(direction)
                            if reach > best[which].reach { best[which] = (reach, place) }
                        }
                    }
                }
            }
        }
        return best.map(\.place)
    }
}

/// How large a region is, and the box around it.
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

    /// Whether the other's box lies in this one's with room on every side.
    func surrounds(_ inner: Region) -> Bool {
        left < inner.left && right > inner.right && top < inner.top && bottom > inner.bottom
    }
}
