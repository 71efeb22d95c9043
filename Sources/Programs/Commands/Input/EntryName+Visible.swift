import SecretVault

extension EntryName {
    /// The full name, safe for a terminal.
    var visible: String { text.isEmpty ? "(no name)" : VisibleText.of(text) }

    /// The visible name, truncated to the width of a table column.
    var fittedToTable: String { visible.fitting(columns: EntryName.tableColumns) }

    /// Whether a table truncates the name, so that other names can look the same.
    var isTruncatedInTable: Bool { fittedToTable != visible }

    /// The maximum width of a name in a table, unless the terminal is narrower.
    static let tableColumns = 80
}
