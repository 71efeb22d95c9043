import OneTimePassword
import SecretVault
import VaultService
import WatchwordSystem

/// A list of entries from which the user selects one with the keyboard, after filtering it.
struct LiveList {
    /// The effect of a key press.
    enum Action: Hashable {
        /// The list has changed, or the key has no effect.
        case none
        /// Enter.
        case choose
        /// Escape, where typing always filters or there is no filter to end.
        case leave
        /// A key that the list does not use.
        case other(TerminalKey)
    }

    let entries: [EntrySummary]
    /// The words that were typed to filter the list.
    private(set) var filter = ""
    /// Whether typed characters filter the list.
    private(set) var isFiltering: Bool
    /// The indices of the entries that match.
    private(set) var shown: [Int]
    /// The position of the selected entry in ``shown``.
    private(set) var selected = 0
    /// The number of shown entries that are scrolled off the top.
    private(set) var top = 0

    /// Whether typing always filters, as in `pick`; otherwise only after `/`.
    private let alwaysFilters: Bool
    /// The number of entries that fit on the screen.
    private var room = 1

    init(_ entries: [EntrySummary], filter: String = "", alwaysFilters: Bool) {
        self.entries = entries
        self.alwaysFilters = alwaysFilters
        isFiltering = alwaysFilters
        shown = Array(entries.indices)
        setFilter(filter)
    }

    /// The index of the selected entry; `nil` if none matches.
    var selection: Int? { shown.indices.contains(selected) ? shown[selected] : nil }

    /// Adapts the list to the screen, so that the selected entry is visible.
    mutating func fit(room: Int) {
        self.room = max(room, 1)
        top = min(max(top, selected - self.room + 1), selected)
        // Use the whole screen.
        top = max(min(top, shown.count - self.room), 0)
    }

    /// Changes the list as `key` requests.
    mutating func press(_ key: TerminalKey) -> Action {
        switch key {
        case .up: move(by: -1)
        case .down: move(by: 1)
        case .pageUp: move(by: -room)
        case .pageDown: move(by: room)
        case .home: move(by: -shown.count)
        case .end: move(by: shown.count)
        case .enter: return .choose
        case .escape:
            guard !alwaysFilters, !filter.isEmpty || isFiltering else { return .leave }
            isFiltering = false
            setFilter("")
        case .backspace where isFiltering: setFilter(String(filter.dropLast()))
        case .control("u") where isFiltering: setFilter("")
        case .character(let character) where isFiltering: setFilter(filter + String(character))
        case .character("/"): isFiltering = true
        case .character("j"), .character(" "): move(by: 1)
        case .character("k"): move(by: -1)
        case .character, .control, .backspace: return .other(key)
        }
        return .none
    }

    /// Moves the selection, up to the ends of the list.
    private mutating func move(by count: Int) {
        selected = max(min(selected + count, shown.count - 1), 0)
    }

    private mutating func setFilter(_ text: String) {
        let before = selection
        filter = text
        let search = EntrySearch(text)
        shown = entries.indices.filter { search.matches(entries[$0]) }
        // Keep the selected entry if it still matches.
        selected = before.flatMap { shown.firstIndex(of: $0) } ?? 0
        top = 0
    }
}

/// A list on the whole screen, until the user leaves it or presses no key for some time.
///
/// `watch` and `pick` show it.
struct LiveView {
    /// The reason why the view ended.
    enum End: Hashable {
        case left
        /// No key was pressed until the time limit.
        case idle
        /// A key of the command was pressed while the entry at this index was selected.
        case chosen(Int, TerminalKey)
    }

    /// The effect of a key that the list itself does not use, or of Enter.
    enum Response {
        case `continue`
        /// Shows a message in the last line until the next key.
        case say(String)
        case end(End)
    }

    var list: LiveList
    /// The time limit without a key press; `nil` for no limit.
    let idle: Duration?
    /// The text of the last line.
    let help: (LiveList) -> String
    /// Whether the lines change every second.
    let isLive: Bool

    /// Shows the list.
    ///
    /// - Parameters:
    ///   - line: the text for the entry with this index.
    ///   - respond: handles a key that the list does not use.
    ///   - isOver: returns `true` once the list has nothing more to show.
    mutating func run(
        line: (LiveFrame, Int) -> String, respond: (TerminalKey, LiveList) -> Response,
        isOver: () -> Bool = { false }
    ) throws -> End {
        do {
            return try show(line: line, respond: respond, isOver: isOver)
        } catch {
            throw CommandFailure.screen(error)
        }
    }

    private mutating func show(
        line: (LiveFrame, Int) -> String, respond: (TerminalKey, LiveList) -> Response,
        isOver: () -> Bool
    ) throws(TerminalError) -> End {
        let isColoured = Environment.value("NO_COLOR") == nil
        var screen = try LiveScreen.take()
        var deadline = idle.map { Moment.now + $0 }
        var message: String?
        while true {
            let size = screen.size
            let frame = LiveFrame(columns: size.columns, rows: size.rows, isColoured: isColoured)
            list.fit(room: LiveFrame.room(rows: size.rows, for: list))
            let bytes = frame.bytes(of: list, status: message ?? help(list)) { line(frame, $0) }
            if isOver() { return .left }
            try screen.draw(bytes.span)
            switch try screen.wait(timeout: timeout(until: deadline)) {
            case .redraw:
                if let deadline, deadline.timeRemaining == .zero { return .idle }
            case .key(let key):
                deadline = idle.map { Moment.now + $0 }
                message = nil
                switch response(to: key, respond) {
                case .continue: break
                case .say(let text): message = text
                case .end(let end): return end
                }
            }
        }
    }

    private mutating func response(
        to key: TerminalKey, _ respond: (TerminalKey, LiveList) -> Response
    ) -> Response {
        if key == .control("c") { return .end(.left) }
        switch list.press(key) {
        case .none: return .continue
        case .leave: return .end(.left)
        case .choose: return respond(.enter, list)
        case .other(let key): return respond(key, list)
        }
    }

    /// Wakes at each full second, so that a countdown is regular.
    private func timeout(until deadline: Moment?) -> Duration {
        let second = Duration.milliseconds(1000 - SystemClock.milliseconds())
        let limit = isLive ? second : .seconds(3600)
        return min(deadline?.timeRemaining ?? limit, limit)
    }
}

/// One line of the live list; each code is requested from the vault only once.
final class LiveRow {
    let entry: EntrySummary
    let step: TimeStep
    /// The reason why the vault no longer provides codes.
    private(set) var failure: (any Error)?

    private let vault: any OpenVault
    /// The last code, and its time step.
    private var last: (step: UInt64, text: String)?

    init(_ entry: EntrySummary, _ step: TimeStep, from vault: any OpenVault) {
        self.entry = entry
        self.step = step
        self.vault = vault
    }

    /// Stores the code at `moment`, which the caller knows.
    func keep(_ code: String, at moment: Int64) {
        last = step.step(at: moment).map { ($0, code) }
    }

    /// The code at `moment`; `nil` before the first step, after a failure, and for an entry that
    /// opens only on a different device.
    func code(at moment: Int64) -> String? {
        guard failure == nil, entry.isHere, let number = step.step(at: moment) else { return nil }
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
    func remaining(at moment: Int64) -> Int64? {
        step.remaining(at: moment)
    }
}

/// One frame of a list, drawn over the previous frame without clearing the screen, to avoid
/// flicker.
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

    /// The columns that an entry gets beside the marker.
    static func width(columns: Int) -> Int { max(columns - marker.count, 1) }

    private static func showsFilter(_ list: LiveList) -> Bool {
        list.isFiltering || !list.filter.isEmpty
    }

    /// The bytes to write to the terminal.
    ///
    /// - Parameters:
    ///   - line: the text for the entry with this index, which fits into ``width(columns:)``.
    ///   - status: the text of the last line.
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
            let place = row.entry.isHere ? nil : Messages.place(of: row.entry)
            return "\(row.entry.name.visible)  \(place ?? "no code yet")".prefix(columns: columns)
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
