/// An entry's name as users type it: `issuer:account`, or only an account.
///
/// Names with the same text are equal: `GitHub:alice` can be an account at GitHub or an account
/// with a colon in it, which users cannot tell apart.
package struct EntryName: Hashable, Sendable {
    package let issuer: String
    package let account: String

    /// Splits the name at its first colon.
    package init(typed: String) {
        if let colon = typed.firstIndex(of: ":") {
            issuer = String(typed[..<colon])
            account = String(typed[typed.index(after: colon)...])
        } else {
            issuer = ""
            account = typed
        }
    }

    /// The name of an existing entry.
    package init(_ entry: EntrySummary) {
        issuer = entry.issuer
        account = entry.account
    }

    package init(issuer: String, account: String) {
        self.issuer = issuer
        self.account = account
    }

    /// The full name.
    package var text: String { issuer.isEmpty ? account : issuer + ":" + account }

    package static func == (left: EntryName, right: EntryName) -> Bool { left.text == right.text }
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Whether `typed` has no visible content and would therefore match every name.
    package static func isBlank(_ typed: String) -> Bool {
        typed.allSatisfy { $0.isWhitespace || $0 == ":" }
    }
}

extension EntrySummary {
    /// The entry's name.
    package var name: EntryName { EntryName(self) }
}
