import QRDrawing

extension GrayImage {
    /// The picture reduced to `longerSide` pixels on the longer side; each pixel is the mean of its
    /// area.
    ///
    /// A picture that is not larger is returned unchanged.
    func reduced(longerSide: Int) -> GrayImage {
        let longer = max(width, height)
        guard longer > longerSide else { return self }
        let columns = Cover(of: width, by: max(width * longerSide / longer, 1))
        let rows = Cover(of: height, by: max(height * longerSide / longer, 1))
        return unsafe drawn(width: columns.count, height: rows.count) { source, target in
            var sums = [Float](repeating: 0, count: width)
            unsafe sums.withUnsafeMutableBufferPointer { sums in
                for row in 0..<rows.count {
                    unsafe sums.update(repeating: 0)
                    rows.forEach(under: row) { from, weight in
                        for column in 0..<width {
                            unsafe sums[column] += Float(source[from * width + column]) * weight
                        }
                    }
                    for column in 0..<columns.count {
                        var sum: Float = 0.5
                        columns.forEach(under: column) { from, weight in
                            unsafe sum += sums[from] * weight
                        }
                        unsafe target[row * columns.count + column] = UInt8(min(sum, 255))
                    }
                }
            }
        }
    }
}

/// The source cells that each target cell covers, with their weights.
private struct Cover {
    let count: Int
    private let span: Float
    private let cells: Int

    init(of cells: Int, by count: Int) {
        self.count = count
        self.cells = cells
        span = Float(cells) / Float(count)
    }

    /// Calls `body` with the cells under `index`; their weights add up to 1.
    @inline(__always)
    func forEach(under index: Int, _ body: (_ cell: Int, _ weight: Float) -> Void) {
        let start = Float(index) * span
        let end = min(Float(index + 1) * span, Float(cells))
        var cell = Int(start)
        while cell < cells, Float(cell) < end {
            let part = min(Float(cell + 1), end) - max(Float(cell), start)
            body(cell, part / span)
            cell += 1
        }
    }
}
