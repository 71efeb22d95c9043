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
