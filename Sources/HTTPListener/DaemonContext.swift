internal import Synchronization

/// What libmicrohttpd's callbacks are given: the listener, and the state of the one daemon that calls.
final class DaemonContext: Sendable {
    let listener: HTTPListener
    let retirement: Retirement
    let gate: HandlerGate

    init(_ listener: HTTPListener, _ retirement: Retirement, _ gate: HandlerGate) {
        self.listener = listener
        self.retirement = retirement
        self.gate = gate
    }
}

/// When the connections of a daemon end whose certificate was replaced.
final class Retirement: Sendable {
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    /// Whether its connections are to have ended by `instant`.
    func isOver(by instant: ContinuousClock.Instant) -> Bool {
        end.withLock { end in end.map { $0 <= instant } ?? false }
    }

    /// Sets the end, or brings it forward; never puts it off.
    func set(_ instant: ContinuousClock.Instant) {
        end.withLock { end in end = end.map { min($0, instant) } ?? instant }
    }
}

/// Counts the requests that the handler has in hand, and lets no more in once the daemon stops.
///
/// Each of them has a suspended connection, and `MHD_stop_daemon` ends the process when there is one.
final class HandlerGate: Sendable {
    private struct State {
        var count = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Lets a request in, unless the gate is closed.
    func enter() -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.count += 1
            return true
        }
    }

    func leave() { state.withLock { $0.count -= 1 } }

    /// Closes the gate if no request is inside; says whether it is closed.
    func close() -> Bool {
        state.withLock { state in
            if state.count == 0 { state.isClosed = true }
            return state.isClosed
        }
    }
}
