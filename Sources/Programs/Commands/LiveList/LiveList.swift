import SecretVault
import VaultService
import WatchwordSystem

/// A list of entries from which the user selects one with the keyboard, after filtering it.
struct LiveList {
    /// What a key means.
    enum Action: Hashable {
        /// The list has changed, or the key has no meaning.
        case none
        /// Enter.
        case choose
        /// Escape with nothing to clear.
        case leave
        /// Another key; the list does not use it.
        case other(TerminalKey)
    }

    let entries: [EntrySummary]
    /// The words that were typed to filter the list.
    private(set) var filter = ""
    /// Whether characters that are typed filter the list.
    private(set) var isFiltering: Bool
    /// The indices of the entries that match.
    private(set) var shown: [Int]
    /// The place in ``shown`` of the selected entry.
    private(set) var selected = 0
    /// The number of shown entries scrolled off the top.
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

    /// Changes the list as `key` asks.
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
            guard !filter.isEmpty || isFiltering != alwaysFilters else { return .leave }
            isFiltering = alwaysFilters
            setFilter("")
        case .backspace where isFiltering: setFilter(String(filter.dropLast()))
        case .control("u") where isFiltering: setFilter("")
        case .character(let character) where isFiltering: setFilter(filter + String(character))
        case .character("/"): isFiltering = true
        // As in less(1).
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
