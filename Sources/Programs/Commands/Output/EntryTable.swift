import SecretVault

/// The lines of a list: each entry's name and properties, and its id if names look alike.
struct EntryTable {
    let lines: [String]

    /// Limits the column, so that a few very long names do not widen it for all entries.
    private static let widestColumn = 48
    private static let narrowestName = 16

    /// Formats `entries`, which may be only some of the vault's entries.
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

extension Character {
    /// The number of terminal columns: East Asian wide characters and emoji take two.
    var columns: Int {
        guard let first = unicodeScalars.first else { return 0 }
        switch first.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF,
            0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}

extension String {
    /// The number of terminal columns.
    var columns: Int {
        // Fast path: a list can have ten thousand names, and nearly all are ASCII.
        if utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return utf8.count }
        return reduce(0) { $0 + $1.columns }
    }

    /// The beginning that fits into `width` columns.
    func prefix(columns width: Int) -> String {
        var used = 0
        var kept = ""
        for character in self {
            // A letter can have any number of combining marks, which take no column.
            guard character.unicodeScalars.count <= Self.maximumScalarCount else { break }
            let columns = character.columns
            guard used + columns <= width else { break }
            used += columns
            kept.append(character)
        }
        return kept
    }

    /// The text; if it is wider than `width` columns, its beginning and an ellipsis.
    func fitting(columns width: Int) -> String {
        let kept = prefix(columns: width)
        guard kept.utf8.count < utf8.count else { return self }
        return kept.prefix(columns: width - 1) + "…"
    }

    /// More scalars than any emoji sequence or letter has.
    private static let maximumScalarCount = 16
}
