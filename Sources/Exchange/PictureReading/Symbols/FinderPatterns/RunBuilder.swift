import QRDrawing

/// Divides a black-and-white picture into runs and joins those that touch.
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
