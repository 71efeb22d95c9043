extension Symbol {
    /// The symbol as an SVG document: black on an opaque white background that includes its quiet
    /// zone.
    ///
    /// A module is one unit and is eight pixels wide by default.
    public func svg() -> [UInt8] {
        let frame = Symbol.quietZone
        let units = side + 2 * frame
        var path = ""
        for row in 0..<side {
            for run in darkRuns(row: row) {
                path += "M\(run.lowerBound + frame) \(row + frame)h\(run.count)v1h-\(run.count)z"
            }
        }
        let document = """
            <?xml version="1.0" encoding="UTF-8"?>
            <svg xmlns="http://www.w3.org/2000/svg" width="\(units * 8)" height="\(units * 8)" \
            viewBox="0 0 \(units) \(units)" shape-rendering="crispEdges">
            <rect width="\(units)" height="\(units)" fill="#fff"/>
            <path d="\(path)"/>
            </svg>

            """
        return Array(document.utf8)
    }

    /// The runs of dark modules in a row, as ranges of columns.
    private func darkRuns(row: Int) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        var start: Int?
        for column in 0...side {
            switch (isDark(column: column, row: row), start) {
            case (true, nil): start = column
            case (false, let first?):
                runs.append(first..<column)
                start = nil
            default: break
            }
        }
        return runs
    }
}
