import DeviceLogin
import WatchwordSystem

/// A text to be signed, all of which the person must see when the question is asked.
struct ConfirmedText {
    /// The number of lines of the text.
    let count: Int
    private let shown: [String]

    init(_ confirmation: KeyConfirmation) {
        // The margin distinguishes the text from the program's messages.
        shown = confirmation.lines.map { "  | " + VisibleText.of(String($0)) }
        count = shown.count
    }

    /// What is printed.
    var text: String { shown.joined(separator: "\n") }

    /// Refuses a text that would scroll away before `question` is answered.
    ///
    /// - Parameter size: the size of the terminal; `nil` if it is unknown.
    func require(_ question: Question, toFit size: (columns: Int, rows: Int)?) throws {
        // A terminal that does not state its size probably has the usual size.
        let known = size.flatMap { $0.columns > 0 && $0.rows > 0 ? $0 : nil }
        let (columns, rows) = known ?? (80, 24)
        let needed = (shown + [question.prompt + "yes"])
            .reduce(0) { $0 + ConfirmedText.rows(of: $1, columns: columns) }
        guard needed <= rows else {
            throw CommandFailure.textTooTall(needed: needed, available: rows)
        }
    }

    /// The maximum number of rows that a line takes on a terminal that wraps it.
    static func rows(of line: String, columns: Int) -> Int {
        var (width, isWide) = (0, false)
        for scalar in line.unicodeScalars {
            switch scalar.value {
            // Characters that no terminal shows in two columns: Latin, Greek and Cyrillic.
            case 0..<0x0300, 0x0370..<0x0530: width += 1
            default:
                width += 2
                isWide = true
            }
        }
        // A wide character is not split across rows, so one column may stay empty.
        let room = max(isWide ? columns - 1 : columns, 1)
        return max((width + room - 1) / room, 1)
    }
}
