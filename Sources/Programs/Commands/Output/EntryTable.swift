import SecretVault

/// The lines of a list: each entry's name and properties, and its id where names look alike.
struct EntryTable {
    let lines: [String]

    /// Limits the column, so that a few very long names do not widen it for all entries.
    private static let widestColumn = 48
    private static let narrowestName = 16

    /// Creates the lines of `entries`, some of the vault's entries.
    ///
    /// - Parameter columns: the width of the terminal, to which lines are truncated; `nil` if the
    ///   output is not a terminal.
    init(_ entries: [EntrySummary], of all: [EntrySummary], columns: Int?) {
        let lookAlikes = all.lookAlikes
        let ids = ShortIDs(all)
        let texts = entries.map { Messages.description(of: $0) }
        let limit = EntryTable.nameLimit(in: columns, beside: texts)
        let names = entries.map { $0.name.visible.fitting(columns: limit) }
        let widths = names.map(\.columns)
        let width = min(widths.max() ?? 0, EntryTable.widestColumn)
        lines = entries.indices.map { place in
            let entry = entries[place]
            let isTruncated = names[place] != entry.name.visible
            let needsID = lookAlikes.contains(entry.id) || isTruncated
            let id = needsID ? ", id \(ids[entry.id])" : ""
            let gap = String(repeating: " ", count: max(width - widths[place], 0) + 2)
            let start = names[place] + gap
            guard let columns else { return start + texts[place] + id }
            // The id is never truncated.
            let room = columns - start.columns - id.columns
            return start + (room > 0 ? texts[place].fitting(columns: room) : "") + id
        }
    }

    /// The maximum width of a name, so that the properties fit beside most names.
    private static func nameLimit(in columns: Int?, beside texts: [String]) -> Int {
        guard let columns else { return EntryName.tableColumns }
        let widest = min(texts.map(\.columns).max() ?? 0, columns / 2)
        return min(max(columns - widest - 2, narrowestName), EntryName.tableColumns)
    }
}
