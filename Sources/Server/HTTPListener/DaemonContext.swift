internal import Synchronization

/// The context of libmicrohttpd's callbacks: the listener, and the state of the calling daemon.
final class DaemonContext: Sendable {
    let listener: Listener
    let retirement: Retirement
    let gate: HandlerGate

    init(_ listener: Listener, _ retirement: Retirement, _ gate: HandlerGate) {
        self.listener = listener
        self.retirement = retirement
        self.gate = gate
    }
}

/// The time when connections of a daemon with a replaced certificate must end.
final class Retirement: Sendable {
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    /// Whether its connections must have ended by `instant`.
    func isOver(by instant: ContinuousClock.Instant) -> Bool {
        end.withLock { end in end.map { $0 <= instant } ?? false }
    }

    /// Sets the end, or brings it forward; never postpones it.
    func set(_ instant: ContinuousClock.Instant) {
        end.withLock { end in end = end.map { min($0, instant) } ?? instant }
    }
}

/// Counts the requests that the handler is working on, and admits no more once the daemon is
/// stopping.
///
/// The connection of each such request is suspended, and `MHD_stop_daemon` terminates the process
/// if a connection is suspended.
final class HandlerGate: Sendable {
    private struct State {
        var count = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Admits a request unless the gate is closed.
    func enter() -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.count += 1
            return true
        }
    }

    func leave() { state.withLock { $0.count -= 1 } }

    /// Closes the gate if there is no request inside.
    ///
    /// Returns whether it is closed.
    func close() -> Bool {
        state.withLock { state in
            if state.count == 0 { state.isClosed = true }
            return state.isClosed
        }
    }
}
