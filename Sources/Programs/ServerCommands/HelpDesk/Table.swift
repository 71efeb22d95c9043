import CommandLineInterface
import WatchwordCoding
import WatchwordSystem

/// Rows of a list, in columns of the same width.
enum Table {
    /// Longer cells do not widen their column.
    private static let widest = 40

    /// The lines for `rows`, whose cells may contain any characters.
    static func lines(_ rows: [[String]]) -> [String] {
        let rows = rows.map { $0.map(\.visibleOnTerminal) }
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], min(cell.count, widest))
            }
        }
        return rows.map { row in
            var line = ""
            for (cell, width) in zip(row, widths) {
                line += cell + String(repeating: " ", count: max(width - cell.count, 0) + 2)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}

extension ServerSession {
    /// Prints each element as a JSON line with `--json`, and otherwise as a row.
    func print(_ elements: [JSONValue], as row: (JSONValue) -> [String]) throws {
        guard !wantsJSON else { return try elements.forEach { try printer.line($0) } }
        for line in Table.lines(elements.map(row)) { try printer.line(line) }
    }
}

extension JSONValue {
    /// The text of a member that is not secret; empty if there is none.
    func text(_ name: String) -> String { self[name]?.string ?? "" }
}
