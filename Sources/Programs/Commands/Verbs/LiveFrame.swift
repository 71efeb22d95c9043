import OneTimePassword
import SecretVault
import VaultService

/// One line of the live list; the vault is asked once for each code.
final class LiveRow {
    let entry: EntrySummary
    let step: TimeStep
    /// Why the vault no longer gives codes.
    private(set) var failure: (any Error)?

    private let vault: any OpenVault
    /// The last code, and its time step.
    private var last: (step: UInt64, text: String)?

    init(_ entry: EntrySummary, _ step: TimeStep, from vault: any OpenVault) {
        self.entry = entry
        self.step = step
        self.vault = vault
    }

    /// Keeps the code at `moment`, which is known.
    func keep(_ code: String, at moment: Int64) {
        last = step.step(at: moment).map { ($0, code) }
    }

    /// The code at `moment`; `nil` before the first step, and after a failure.
    func code(at moment: Int64) -> String? {
        guard failure == nil, let number = step.step(at: moment) else { return nil }
        if let last, last.step == number { return last.text }
        // A refresh does not count as a use, so it does not restart the agent's idle time.
        let time = CodeTime.moment(moment, offset: 0, isRefresh: true)
        do throws(AgentFailure) {
            switch try vault.send(.code(vault.place, entry.id, time, .none)) {
            case .code(let code):
                last = (number, code.text)
                return code.text
            case .locked(let reason): failure = CommandFailure.agentLocked(reason)
            case .notHeld: failure = CommandFailure.agentLocked(nil)
            case .failed(let error): failure = CommandFailure.at(VisibleText.of(vault.path), error)
            default: failure = AgentFailure.malformed
            }
        } catch {
            failure = error
        }
        return nil
    }

    /// Seconds until the code changes.
    func remaining(at moment: Int64) -> Int64? { step.remaining(at: moment) }
}

/// One frame of a list, drawn over the previous one without clearing, to avoid flicker.
struct LiveFrame {
    let columns: Int
    let rows: Int
    let isColoured: Bool

    private static let home = "\u{1B}[H"
    private static let clearToLineEnd = "\u{1B}[K"
    private static let clearBelow = "\u{1B}[J"
    private static let plain = "\u{1B}[0m"
    private static let bold = "\u{1B}[1m"
    private static let red = "\u{1B}[31m"
    private static let dim = "\u{1B}[2m"
    private static let inverse = "\u{1B}[7m"
    private static let barWidth = 10
    private static let marker = "> "
    private static let noMarker = "  "

    /// The number of entries that fit above the last line and below the filter.
    static func room(rows: Int, for list: LiveList) -> Int {
        max(rows - (showsFilter(list) ? 2 : 1), 1)
    }

    /// The columns for an entry, beside the marker.
    static func width(columns: Int) -> Int { max(columns - marker.count, 1) }

    private static func showsFilter(_ list: LiveList) -> Bool {
        list.isFiltering || !list.filter.isEmpty
    }

    /// The bytes to write to the terminal.
    ///
    /// - Parameters:
    ///   - line: the text for the entry with this index, which fits into ``width(columns:)``.
    ///   - status: what the last line says.
    func bytes(of list: LiveList, status: String, line: (Int) -> String) -> [UInt8] {
        var text = LiveFrame.home
        if LiveFrame.showsFilter(list) {
            let cursor = list.isFiltering ? "█" : ""
            let typed = "/" + VisibleText.of(list.filter)
            text += typed.prefix(columns: columns - 1) + cursor + LiveFrame.clearToLineEnd + "\r\n"
        }
        let room = LiveFrame.room(rows: rows, for: list)
        for (place, index) in list.shown.enumerated().dropFirst(list.top).prefix(room) {
            let isSelected = place == list.selected
            let marker = isSelected ? LiveFrame.marker : LiveFrame.noMarker
            text += styled(marker, isSelected ? LiveFrame.inverse : "") + line(index)
            text += LiveFrame.clearToLineEnd + "\r\n"
        }
        text += styled(status.prefix(columns: columns), LiveFrame.dim) + LiveFrame.clearToLineEnd
        return Array((text + LiveFrame.clearBelow).utf8)
    }

    /// The text for `row`: its code, the time left and its name.
    func line(of row: LiveRow, at moment: Int64) -> String {
        let columns = LiveFrame.width(columns: columns)
        guard let code = row.code(at: moment), let remaining = row.remaining(at: moment) else {
            return (row.entry.name.visible + "  no code yet").prefix(columns: columns)
        }
        let seconds = String(remaining)
        let padded = String(repeating: " ", count: max(3 - seconds.count, 0)) + seconds + " s"
        let filled = LiveFrame.filled(remaining, of: row.step.period)
        let bar =
            String(repeating: "█", count: min(filled, LiveFrame.barWidth))
            + String(repeating: "·", count: max(LiveFrame.barWidth - filled, 0))
        let shown = code + String(repeating: " ", count: max(8 - code.count, 0))
        let fixed = shown.count + 1 + padded.count + 1 + LiveFrame.barWidth + 2
        let isAboutToExpire = remaining <= 5
        guard columns > fixed + 4 else {
            // In a narrow window, show the code and omit the bar.
            return "\(code) \(row.entry.name.visible)".prefix(columns: columns)
        }
        let name = row.entry.name.visible.prefix(columns: columns - fixed)
        return styled(shown, LiveFrame.bold) + " "
            + styled("\(padded) \(bar)", isAboutToExpire ? LiveFrame.red : "") + "  " + name
    }

    /// The filled part of the bar, rounded up.
    ///
    /// The multiplication is full-width, because a period can be any `Int64`.
    static func filled(_ remaining: Int64, of period: Int64) -> Int {
        let product = remaining.multipliedFullWidth(by: Int64(barWidth))
        let (whole, part) = period.dividingFullWidth(product)
        return Int(whole) + (part > 0 ? 1 : 0)
    }

    private func styled(_ text: String, _ style: String) -> String {
        isColoured && !style.isEmpty ? style + text + LiveFrame.plain : text
    }
}
