extension Option {
    /// Shows a help page instead of doing anything.
    package static let help = Option("help", short: "h", "show help for the command")
    /// Shows the version instead of doing anything.
    package static let version = Option("version", short: "V", "show the version")
}
