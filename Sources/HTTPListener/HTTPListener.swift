internal import Glibc
internal import Synchronization

/// Takes requests over HTTP or HTTPS and hands them to a closure; knows nothing of what they mean.
///
/// libmicrohttpd's threads read and write; each whole request is answered by a task of its own.
public final class HTTPListener: Sendable {
    /// What answers a request.
    public typealias Handler = @Sendable (ListenerRequest) async -> ListenerResponse
    /// What answers a request that the listener refuses.
    public typealias Refuser = @Sendable (ListenerRefusal, _ peer: String) -> ListenerResponse

    /// Where it listens, with the port that the kernel chose.
    public let address: ListenAddress
    let limits: ListenerLimits
    let handler: Handler
    let refuser: Refuser
    let registry: ConnectionRegistry
    /// Requests that have begun and are not answered yet.
    let begun = Mutex(0)
    /// The time of the limits.
    let now: @Sendable () -> ContinuousClock.Instant
    private let draining = Mutex(false)
    private let daemons: DaemonSet
    private let threads: Int
    private let reaper: Task<Void, Never>

    /// Listens from now on.
    ///
    /// - Parameters:
    ///   - tls: with it HTTPS is spoken (TLS 1.2 and 1.3), without it HTTP.
    ///   - threads: how many threads read and write.
    ///   - now: the time of the limits.
    public static func start(
        on address: ListenAddress, tls: TLSIdentity? = nil,
        limits: ListenerLimits = ListenerLimits(),
        threads: Int = 2,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        refuser: @escaping Refuser, handler: @escaping Handler
    ) throws(ListenerFailure) -> HTTPListener {
        try HTTPListener(
            address, tls: tls, limits: limits, threads: threads, now: now, refuser: refuser,
            handler: handler)
    }

    private init(
        _ address: ListenAddress, tls: TLSIdentity?, limits: ListenerLimits, threads: Int,
        now: @escaping @Sendable () -> ContinuousClock.Instant, refuser: @escaping Refuser,
        handler: @escaping Handler
    ) throws(ListenerFailure) {
        self.limits = limits
        self.now = now
        self.refuser = refuser
        self.handler = handler
        let registry = ConnectionRegistry(
            limit: limits.connections, limitPerOrigin: limits.connectionsPerAddress, start: now())
        self.registry = registry
        let socket = try ListeningSocket(address)
        self.address = address.with(port: socket.port)
        self.threads = threads
        let first = Daemon(tls: tls)
        let daemons = DaemonSet(first)
        self.daemons = daemons
        reaper = Task {
            // Whoever cancels it wakes it up.
            while !Task.isCancelled {
                do { try await Task.sleep(for: HTTPListener.reaping) } catch { return }
                registry.cutOff(at: now())
                daemons.stopUnused(at: now())
            }
        }
        do throws(ListenerFailure) {
            try first.start(self, socket: socket, threads: threads)
        } catch {
            reaper.cancel()
            throw error
        }
    }

    /// How often connections are looked at whose clients take their time.
    private static let reaping = Duration.milliseconds(200)

    /// Shows another certificate from now on; open connections keep the one they know, for
    /// ``ListenerLimits/retiredLifetime`` at most.
    ///
    /// - Throws: why it is not shown; the one before stays then.
    public func replace(tls: TLSIdentity) throws(ListenerFailure) {
        try replaceDaemon(tls: tls)
    }

    func replaceDaemon(tls: TLSIdentity?) throws(ListenerFailure) {
        let threads = threads
        try daemons.replace(with: Daemon(tls: tls), at: now(), lifetime: limits.retiredLifetime) {
            daemon, socket throws(ListenerFailure) in
            try daemon.start(self, socket: socket, threads: threads)
        }
    }

    /// How many certificates are in use at the moment.
    var daemonCount: Int { daemons.count }

    /// A request is over, answered or not.
    func end(_ exchange: Exchange, from peer: PeerAddress, hasFailed: Bool) {
        begun.withLock { $0 -= 1 }
        // It is given up though the client goes on and we had nothing against it: the library has.
        if hasFailed, exchange.isComing { _ = refuser(.refusedByLibrary, peer.text) }
    }

    var isDraining: Bool { draining.withLock { $0 } }
    var begunCount: Int { begun.withLock { $0 } }

    /// Takes no more connections, answers what has begun, and stops.
    ///
    /// - Parameter grace: how long what has begun may still take.
    /// - Returns: whether all of it was answered.
    public func stop(grace: Duration) async -> Bool {
        let isFirst = draining.withLock { draining in
            defer { draining = true }
            return !draining
        }
        guard isFirst else { return true }
        daemons.quiesce()
        let end = ContinuousClock.now + grace
        while begun.withLock({ $0 }) > 0, .now < end {
            do { try await Task.sleep(for: .milliseconds(5)) } catch { break }
        }
        reaper.cancel()
        let isDone = begun.withLock { $0 } == 0
        daemons.stop()
        return isDone
    }
}
