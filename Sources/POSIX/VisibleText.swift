extension String {
    /// The text made fit for a terminal: what steers it, or misleads who reads it, is spelled out as
    /// `\u{202E}`.
    public var visibleOnTerminal: String {
        // A list asks for ten thousand names, and nearly all are plain.
        if utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return self }
        var visible = ""
        for scalar in unicodeScalars {
            if scalar.misleads {
                visible += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                visible.unicodeScalars.append(scalar)
            }
        }
        return visible
    }
}

extension Unicode.Scalar {
    /// Whether it would steer a terminal, or make a text look like another one.
    ///
    /// Control and format characters (ESC, the bidirectional overrides, zero-width spaces), and the
    /// line and paragraph separators. The two joiners stay: scripts and emoji are written with them.
    public var misleads: Bool {
        if value == 0x200C || value == 0x200D { return false }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }
}
