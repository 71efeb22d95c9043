import WatchwordSystem

/// Text as one word of a shell command that the user can copy.
enum ShellWord {
    /// `text`, which may be a path, in single quotes; if it has control or invisible characters, as
    /// `$'…'` with their bytes in octal.
    ///
    /// The shell splits bytes, not characters: an apostrophe followed by a combining accent is one
    /// `Character`, but ends the quotes.
    static func quoted(_ text: String) -> String {
        // A command would read it as an option.
        guard text.utf8.first != UInt8(ascii: "-") else { return quoted("./" + text) }
        guard text.visibleOnTerminal == text else { return "$'" + escaped(text) + "'" }
        var quoted = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" { quoted += "'\\''" } else { quoted.unicodeScalars.append(scalar) }
        }
        return quoted + "'"
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            guard scalar.isInvisible || scalar == "'" || scalar == "\\" else {
                escaped.unicodeScalars.append(scalar)
                continue
            }
            for byte in String(scalar).utf8 {
                let digits = String(byte, radix: 8)
                escaped += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
            }
        }
        return escaped
    }
}
