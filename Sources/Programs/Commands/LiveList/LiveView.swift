import SecretVault
import WatchwordSystem

/// A list on the whole screen, until the user leaves it or presses no key for some time.
///
/// `watch` and `pick` show it.
struct LiveView {
    /// Why the view ended.
    enum End: Hashable {
        case left
        /// No key was pressed for the time limit.
        case idle
        /// A key that the command waits for was pressed, with the entry at this index selected.
        case chosen(Int, TerminalKey)
    }

    /// What a key does that the list itself does not use, or Enter.
    enum Response {
        case `continue`
        /// Shows a message in the last line until the next key.
        case say(String)
        case end(End)
    }

    var list: LiveList
    /// How long the view waits for a key; `nil` for any time.
    let idle: Duration?
    /// What the last line says.
    let help: (LiveList) -> String
    /// Whether the lines change each second.
    let isLive: Bool

    /// Shows the list.
    ///
    /// - Parameters:
    ///   - line: the text for the entry with this index.
    ///   - respond: what a key does that the list does not use.
    ///   - isOver: whether the list has nothing more to show.
    mutating func run(
        line: (LiveFrame, Int) -> String, respond: (TerminalKey, LiveList) -> Response,
        isOver: () -> Bool = { false }
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

    /// Wakes at each full second, so that a countdown is even.
    private func timeout(until deadline: Moment?) -> Duration {
        let second = Duration.milliseconds(1000 - SystemClock.milliseconds())
        let limit = isLive ? second : .seconds(3600)
        return min(deadline?.timeRemaining ?? limit, limit)
    }
}
