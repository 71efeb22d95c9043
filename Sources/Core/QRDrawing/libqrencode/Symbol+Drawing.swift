extension Symbol {
    /// The symbol as an SVG document: black on an opaque white background that includes its quiet
    /// zone.
    ///
    /// A module is one unit and is eight pixels wide by default.
    public func svg() -> [UInt8] {
        let pixels = (side + 2 * Symbol.quietZone) * 8
        let element = svgElement(attributes: "width=\"\(pixels)\" height=\"\(pixels)\"")
        return Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\(element)\n".utf8)
    }

    /// The symbol as an SVG element for a page that sets its size.
    public func svgElement() -> String { svgElement(attributes: "") }

    private func svgElement(attributes: String) -> String {
        let frame = Symbol.quietZone
        let units = side + 2 * frame
        var path = ""
        for row in 0..<side {
            for run in darkRuns(row: row) {
                path += "M\(run.lowerBound + frame) \(row + frame)h\(run.count)v1h-\(run.count)z"
            }
        }
        let space = attributes.isEmpty ? "" : " "
        return """
            <svg xmlns="http://www.w3.org/2000/svg"\(space)\(attributes) \
            viewBox="0 0 \(units) \(units)" shape-rendering="crispEdges">
            <rect width="\(units)" height="\(units)" fill="#fff"/>
            <path d="\(path)"/>
            </svg>
            """
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

extension Symbol {
    /// The symbol as an opaque image, black on white with its quiet zone.
    ///
    /// - Parameter modulePixels: the side of a module in pixels, 1 to 32. More pixels do not make
    ///   the symbol easier to read.
    public func image(modulePixels: Int = 8) -> GrayImage {
        precondition((1...32).contains(modulePixels), "a module must be 1 to 32 pixels wide")
        let frame = Symbol.quietZone
        let width = (side + 2 * frame) * modulePixels
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * width)
        for row in -frame..<side + frame {
            let start = pixels.count
            for column in -frame..<side + frame {
                let brightness: UInt8 = isDark(column: column, row: row) ? 0 : 255
                pixels.append(contentsOf: repeatElement(brightness, count: modulePixels))
            }
            let line = pixels[start...]
            for _ in 1..<modulePixels { pixels.append(contentsOf: line) }
        }
        return GrayImage(width: width, height: width, pixels: pixels)
    }
}

extension Symbol {
    /// The symbol as lines for a terminal with 256 colours, black on white in every theme.
    ///
    /// A character cell holds two modules, one above the other. Every cell sets foreground and
    /// background, the quiet zone is drawn, and each line ends by resetting the colours.
    public func terminal() -> [UInt8] {
        let frame = Symbol.quietZone
        var text = ""
        for row in stride(from: -frame, to: side + frame, by: 2) {
            // 16 and 231 are the colour cube's black and white. Themes change 0 and 15, but not
            // these.
            text += "\u{1B}[38;5;16;48;5;231m"
            for column in -frame..<side + frame {
                switch (
                    isDark(column: column, row: row), isDark(column: column, row: row + 1)
                ) {
                case (false, false): text += " "
                case (true, false): text += "▀"
                case (false, true): text += "▄"
                case (true, true): text += "█"
                }
            }
            text += "\u{1B}[0m\n"
        }
        return Array(text.utf8)
    }
}
