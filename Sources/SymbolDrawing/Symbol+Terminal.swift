extension Symbol {
    /// The symbol as lines for a terminal with 256 colours, black on white whatever its theme.
    ///
    /// A character cell holds two modules, one above the other. Foreground and background are set on
    /// every cell, the quiet zone is painted, and each line ends with the terminal's own colours.
    public func terminal() -> [UInt8] {
        let frame = Symbol.quietZone
        var text = ""
        for row in stride(from: -frame, to: side + frame, by: 2) {
            // 16 and 231 are the colour cube's black and white, which no theme changes, unlike 0 and 15.
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
