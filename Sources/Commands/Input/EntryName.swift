import SecretVault

/// An entry's name as users type it: `issuer:account`, or only an account.
///
/// Names with the same text are equal: `GitHub:alice` can be an account at GitHub or an account
/// with a colon in it, which users cannot tell apart.
struct EntryName: Hashable, Sendable {
    let issuer: String
    let account: String

    /// Splits the name at its first colon.
    init(typed: String) {
        if let colon = typed.firstIndex(of: ":") {
            issuer = String(typed[..<colon])
            account = String(typed[typed.index(after: colon)...])
        } else {
            issuer = ""
            account = typed
        }
    }

    /// The name of an existing entry.
    init(_ entry: EntrySummary) {
        issuer = entry.issuer
        account = entry.account
    }

    init(issuer: String, account: String) {
        self.issuer = issuer
        self.account = account
    }

    /// The full name.
    var text: String { issuer.isEmpty ? account : issuer + ":" + account }

    static func == (left: EntryName, right: EntryName) -> Bool { left.text == right.text }
    func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Whether `typed` has no visible content and would therefore match every name.
    static func isBlank(_ typed: String) -> Bool {
        typed.allSatisfy { $0.isWhitespace || $0 == ":" }
    }

    /// The full name, safe for a terminal.
    var visible: String { text.isEmpty ? "(no name)" : VisibleText.of(text) }

    /// The visible name, truncated to the width of a table column.
    var fittedToTable: String { visible.fitting(columns: EntryName.tableColumns) }

    /// Whether a table truncates the name, so that other names can look the same.
    var isTruncatedInTable: Bool { fittedToTable != visible }

    /// The maximum width of a name in a table, unless the terminal is narrower.
    static let tableColumns = 80
}

extension EntrySummary {
    /// The entry's name.
    var name: EntryName { EntryName(self) }
}
