internal import Synchronization

/// The daemon that takes connections, and those before it that still have some.
///
/// libmicrohttpd reads a certificate when a daemon starts and never again. So another certificate is
/// another daemon at the same socket; the one before takes no more connections, and ends when those
/// that it has are over.
final class DaemonSet: Sendable {
    private struct Retired {
        let daemon: Daemon
        let since: ContinuousClock.Instant
    }

    private struct State {
        var current: Daemon
        var retired: [Retired] = []
        var isStopped = false
    }

    private let state: Mutex<State>

    /// How long one that is retired lives at least: a connection that it took at the last moment is counted
    /// by then.
    private static let shortestRest = Duration.seconds(1)
    /// When more than so many are retired, the oldest one's connections have no more time.
    private static let usualCount = 8
    /// More are never kept beside each other: each has its threads.
    private static let largestCount = 16

    init(_ first: Daemon) { state = Mutex(State(current: first)) }

    /// Puts `next` in the place of the current one.
    ///
    /// - Parameter lifetime: how long the current one's connections may still be used.
    /// - Parameter start: starts it at a copy of the socket; when that fails, nothing has changed.
    func replace(
        with next: Daemon, at now: ContinuousClock.Instant, lifetime: Duration,
        start: (Daemon, consuming ListeningSocket) throws(ListenerFailure) -> Void
    ) throws(ListenerFailure) {
        try state.withLock { state throws(ListenerFailure) in
            guard !state.isStopped else { throw .notStarted }
            guard state.retired.count < Self.largestCount else {
                throw .earlierCertificatesInUse(state.retired.count)
            }
            try start(next, try state.current.duplicatedSocket())
            // Both take connections for a moment, so that there is none in which nobody does.
            state.current.quiesce()
            state.current.retirement.set(now + lifetime)
            state.retired.append(Retired(daemon: state.current, since: now))
            state.current = next
            for oldest in state.retired.dropLast(Self.usualCount) {
                oldest.daemon.retirement.set(now)
            }
        }
    }

    /// Ends those that are retired and have no connection left.
    func stopUnused(at now: ContinuousClock.Instant) {
        let unused = state.withLock { state in
            let unused = state.retired.filter {
                now - $0.since >= Self.shortestRest && $0.daemon.connectionCount == 0
            }
            state.retired.removeAll { retired in
                unused.contains { $0.daemon === retired.daemon }
            }
            return unused
        }
        let busy = unused.filter { !$0.daemon.stop() }
        // One of them took a request at the last moment after all.
        state.withLock { $0.retired = busy + $0.retired }
    }

    /// How many still live, the current one among them.
    var count: Int { state.withLock { $0.retired.count + 1 } }

    /// Takes no more connections.
    func quiesce() {
        state.withLock { state in
            state.isStopped = true
            state.current.quiesce()
        }
    }

    /// Closes every connection and ends the threads, but for daemons with a request in the handler's hands.
    func stop() {
        let all = state.withLock { state in
            defer { state.retired = [] }
            return state.retired.map(\.daemon) + [state.current]
        }
        for daemon in all { _ = daemon.stop() }
    }
}
