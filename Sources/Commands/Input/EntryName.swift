import Arguments
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

    private static let tableColumns = 80
}

extension EntrySummary {
    /// The entry's name.
    var name: EntryName { EntryName(self) }
}

extension [EntrySummary] {
    /// The only entry that matches `typed`.
    ///
    /// `typed` is the full name, account or id; otherwise a part of the name, ignoring case;
    /// otherwise the beginning of the id, at least eight characters.
    func one(named typed: String) throws(CommandFailure) -> EntrySummary {
        guard !EntryName.isBlank(typed) else { throw .usage(.emptyName) }
        let mayBeID = typed.utf8.count == RecordID.textCount
        let exact = filter { entry in
            entry.name.text == typed || entry.account == typed
                || mayBeID && entry.id.text == typed
        }
        var found = exact.isEmpty ? holding(typed) : exact
        // Eight or more characters are unlikely to match an id by accident.
        if found.isEmpty, typed.utf8.count >= 8 {
            found = filter { $0.id.text.hasPrefix(typed.lowercased()) }
        }
        guard let first = found.first else { throw .noSuchEntry(VisibleText.of(typed)) }
        guard found.count == 1 else {
            let lookAlikes = found.lookAlikes
            throw .ambiguousName(
                VisibleText.of(typed),
                found.map {
                    let needsID = lookAlikes.contains($0.id) || $0.name.isTruncatedInTable
                    return $0.name.fittedToTable + (needsID ? "  (\($0.shortID))" : "")
                })
        }
        return first
    }

    /// The entries whose names contain `typed`, ignoring case.
    func holding(_ typed: String) -> [EntrySummary] {
        let wanted = Array<UInt8>(typed.lowercased().utf8)
        return filter { entry in
            Array<UInt8>(entry.name.text.lowercased().utf8).holds(wanted)
        }
    }
}

extension [UInt8] {
    fileprivate func holds(_ part: [UInt8]) -> Bool {
        guard !part.isEmpty else { return true }
        guard count >= part.count else { return false }
        return (0...count - part.count).contains { start in
            self[start..<start + part.count].elementsEqual(part)
        }
    }
}
