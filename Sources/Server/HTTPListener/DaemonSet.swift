internal import Synchronization

/// The daemon that accepts connections, and earlier daemons that still have open connections.
///
/// libmicrohttpd reads a certificate only when a daemon starts. A new certificate therefore needs a
/// new daemon on the same socket; the earlier daemon accepts no more connections and stops when its
/// connections have ended.
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

    /// The minimum time before a retired daemon stops, so that a connection accepted at the last
    /// moment is counted.
    private static let minimumRetirement = Duration.seconds(1)
    /// If more daemons than this are retired, the oldest one's connections are closed.
    private static let typicalCount = 8
    /// The maximum number of daemons, because each one has threads.
    private static let largestCount = 16

    init(_ first: Daemon) { state = Mutex(State(current: first)) }

    /// Replaces the current daemon with `next`.
    ///
    /// - Parameter lifetime: how long the current daemon's connections may still be used.
    /// - Parameter start: starts the new daemon with a copy of the socket. If that fails, nothing
    ///   changes.
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
            // Both daemons accept connections for a moment, so that there is no gap.
            state.current.quiesce()
            state.current.retirement.set(now + lifetime)
            state.retired.append(Retired(daemon: state.current, since: now))
            state.current = next
            for oldest in state.retired.dropLast(Self.typicalCount) {
                oldest.daemon.retirement.set(now)
            }
        }
    }

    /// Stops retired daemons that have no connections left.
    func stopUnused(at now: ContinuousClock.Instant) {
        let unused = state.withLock { state in
            let unused = state.retired.filter {
                now - $0.since >= Self.minimumRetirement && $0.daemon.connectionCount == 0
            }
            state.retired.removeAll { retired in
                unused.contains { $0.daemon === retired.daemon }
            }
            return unused
        }
        let busy = unused.filter { !$0.daemon.stop() }
        // A busy daemon accepted a request at the last moment.
        state.withLock { $0.retired = busy + $0.retired }
    }

    /// The number of running daemons, including the current one.
    var count: Int { state.withLock { $0.retired.count + 1 } }

    /// Stops accepting connections.
    func quiesce() {
        state.withLock { state in
            state.isStopped = true
            state.current.quiesce()
        }
    }

    /// Closes all connections and ends the threads, except for daemons whose requests are being
    /// handled.
    func stop() {
        let all = state.withLock { state in
            defer { state.retired = [] }
            return state.retired.map(\.daemon) + [state.current]
        }
        for daemon in all { _ = daemon.stop() }
    }
}
