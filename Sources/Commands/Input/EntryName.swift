import Arguments
import SecretVault

/// An entry's name as people type it: `issuer:account`, or an account alone.
///
/// Names that read the same are the same: `GitHub:alice` may be an account of GitHub or an account
/// with a colon in it, and nobody could tell the two apart by what they type.
struct EntryName: Hashable, Sendable {
    let issuer: String
    let account: String

    /// Takes the name apart at its first colon.
    init(typed: String) {
        if let colon = typed.firstIndex(of: ":") {
            issuer = String(typed[..<colon])
            account = String(typed[typed.index(after: colon)...])
        } else {
            issuer = ""
            account = typed
        }
    }

    /// The name of an entry that is there.
    init(_ entry: EntrySummary) {
        issuer = entry.issuer
        account = entry.account
    }

    init(issuer: String, account: String) {
        self.issuer = issuer
        self.account = account
    }

    /// The whole name.
    var text: String { issuer.isEmpty ? account : issuer + ":" + account }

    static func == (left: EntryName, right: EntryName) -> Bool { left.text == right.text }
    func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Whether `typed` names nothing, and so would be found in every name.
    static func isBlank(_ typed: String) -> Bool {
        typed.allSatisfy { $0.isWhitespace || $0 == ":" }
    }

    /// The whole name, fit for a terminal; what has no name is called so.
    var visible: String { text.isEmpty ? "(no name)" : VisibleText.of(text) }

    /// The same, cut to a width that a table has room for.
    var inTable: String { visible.fitting(columns: EntryName.tableColumns) }

    /// Whether a table shows only the beginning of it, so that other names may begin like it.
    var isCutInTable: Bool { inTable != visible }

    private static let tableColumns = 80
}

extension EntrySummary {
    /// The entry's name.
    var name: EntryName { EntryName(self) }
}

extension [EntrySummary] {
    /// The one entry that `typed` means: by its whole name, its account or its id, or else the one
    /// whose name holds it, whatever the case, or else the one whose id begins so.
    func one(named typed: String) throws(CommandFailure) -> EntrySummary {
        guard !EntryName.isBlank(typed) else { throw .usage(.emptyName) }
        let mayBeID = typed.utf8.count == RecordID.textCount
        let exact = filter { entry in
            entry.name.text == typed || entry.account == typed
                || mayBeID && entry.id.text == typed
        }
        var found = exact.isEmpty ? holding(typed) : exact
        // So many digits nobody types by accident.
        if found.isEmpty, typed.utf8.count >= 8 {
            found = filter { $0.id.text.hasPrefix(typed.lowercased()) }
        }
        guard let first = found.first else { throw .noSuchEntry(VisibleText.of(typed)) }
        guard found.count == 1 else {
            let lookAlikes = found.lookAlikes
            throw .severalEntries(
                VisibleText.of(typed),
                found.map {
                    let needsID = lookAlikes.contains($0.id) || $0.name.isCutInTable
                    return $0.name.inTable + (needsID ? "  (\($0.shortID))" : "")
                })
        }
        return first
    }

    /// The entries whose name holds `typed`, whatever the case.
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
