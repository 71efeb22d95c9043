/// Text as one word of a shell command that the user can copy.
enum ShellWord {
    /// `text` in single quotes.
    ///
    /// The shell splits bytes, not characters: an apostrophe followed by a combining accent is one
    /// `Character`, but ends the quotes.
    static func quoted(_ text: String) -> String {
        var quoted = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" { quoted += "'\\''" } else { quoted.unicodeScalars.append(scalar) }
        }
        return quoted + "'"
    }
}
