extension Option {
    /// Shows a page instead of doing anything.
    package static let help = Option("help", short: "h", "show the verb's page")
    /// Shows the version instead of doing anything.
    package static let version = Option("version", short: "V", "show the version")
}
