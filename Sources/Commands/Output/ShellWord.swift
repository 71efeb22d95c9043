/// Text as one word of a shell command that the user can copy.
enum ShellWord {
    /// `text` in single quotes.
    static func quoted(_ text: String) -> String {
        "'"
            + text.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "'\\''") + "'"
    }
}
