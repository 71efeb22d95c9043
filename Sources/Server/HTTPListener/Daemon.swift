internal import CMicroHTTPD
internal import Glibc
internal import Synchronization
internal import WatchwordCryptography

/// A libmicrohttpd daemon: its threads, its listening socket, and the objects that it refers to.
final class Daemon: Sendable {
    // The handle may be used from any thread (libmicrohttpd manual, “Thread safety”). Starting and
    // stopping must not overlap; the lock serialises them.
    @safe private struct Running: @unchecked Sendable {
        let handle: OpaquePointer
        /// The callbacks' context, which lives as long as libmicrohttpd may call them.
        let context: Unmanaged<DaemonContext>
        let socket: Int32
    }

    private let running = Mutex<Running?>(nil)
    /// When the daemon's connections must end.
    let retirement = Retirement()
    private let gate = HandlerGate()
    // The certificate, the key and the priorities end with NUL, and do not move while the daemon
    // may read them.
    private let certificate: SecretBytes?
    private let key: SecretBytes?
    private let priorities: SecretBytes

    init(tls: TLSIdentity?) {
        certificate = tls.map { Daemon.terminated($0.certificate.span) }
        key = tls.map { tls in tls.key.withBytes { Daemon.terminated($0) } }
        priorities = Daemon.terminated(Array(Daemon.priorities.utf8).span)
    }

    /// The number of threads that read and write.
    private static let threadCount = 2

    /// TLS 1.2 and 1.3, with forward secrecy and authenticated encryption only.
    private static let priorities =
        "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-CIPHER-ALL:+AES-256-GCM:+AES-128-GCM"
        + ":+CHACHA20-POLY1305"

    private static func terminated(_ bytes: Span<UInt8>) -> SecretBytes {
        SecretBytes(capacity: bytes.count + 1) { output in
            output.append(copying: bytes)
            output.append(0)
        }
    }

    /// The buffer size of each connection.
    ///
    /// A head that exceeds our own limit still fits, so that it gets our own response.
    static func memory(_ limits: ListenerLimits) -> Int { 4 * max(limits.headers, 8 << 10) }

    func start(_ listener: Listener, socket: consuming ListeningSocket)
        throws(ListenerFailure)
    {
        let kept = unsafe Unmanaged.passRetained(DaemonContext(listener, retirement, gate))
        let context = unsafe kept.toOpaque()
        // From here on the daemon owns the socket; some errors that keep the daemon from starting
        // also close it.
        let listening = socket.release()
        let identity = ListeningSocket.Identity(of: listening)
        var items = unsafe [
            item(.LISTEN_SOCKET, Int(listening)),
            item(.THREAD_POOL_SIZE, Daemon.threadCount),
            item(.CONNECTION_LIMIT, listener.limits.connections),
            item(.CONNECTION_MEMORY_LIMIT, Daemon.memory(listener.limits)),
            item(.STRICT_FOR_CLIENT, 0),
            item(.NOTIFY_CONNECTION, address(connectionNotice), context),
            item(.NOTIFY_COMPLETED, address(completionNotice), context),
            item(.URI_LOG_CALLBACK, address(targetNotice), context),
            item(.UNESCAPE_CALLBACK, address(unescaping), nil),
        ]
        var flags = MHD_ALLOW_SUSPEND_RESUME.rawValue
        if let certificate, let key {
            // With epoll, libmicrohttpd keeps a processor busy while it waits for the rest of a
            // handshake.
            flags |= MHD_USE_POLL_INTERNAL_THREAD.rawValue | MHD_USE_TLS.rawValue
            unsafe items.append(item(.HTTPS_MEM_CERT, 0, pointer(certificate)))
            unsafe items.append(item(.HTTPS_MEM_KEY, 0, pointer(key)))
            unsafe items.append(item(.HTTPS_PRIORITIES, 0, pointer(priorities)))
        } else {
            flags |= MHD_USE_EPOLL_INTERNAL_THREAD.rawValue
        }
        unsafe items.append(item(.END))
        errno = 0
        let handle = unsafe items.withUnsafeMutableBufferPointer { items -> OpaquePointer? in
            guard let start = items.baseAddress else { return nil }
            let arguments: [any CVarArg] = unsafe [
                Int32(MHD_OPTION.ARRAY.rawValue), start, Int32(MHD_OPTION.END.rawValue),
            ]
            return unsafe withVaList(arguments) { arguments in
                unsafe MHD_start_daemon_va(
                    flags, 0, acceptance, context, access, context, arguments)
            }
        }
        guard let handle = unsafe handle else {
            let number = errno
            ListeningSocket.close(listening, ifStill: identity)
            unsafe kept.release()
            // Any other value of `errno` may be left over from an earlier call.
            guard [EMFILE, ENFILE, ENOMEM, EAGAIN].contains(number) else { throw .notStarted }
            throw .system(call: "MHD_start_daemon", number: number)
        }
        running.withLock { unsafe $0 = Running(handle: handle, context: kept, socket: listening) }
    }

    /// A copy of the listening socket, for another daemon.
    func duplicatedSocket() throws(ListenerFailure) -> ListeningSocket {
        let number = running.withLock { $0?.socket }
        guard let number else { throw .notStarted }
        return try ListeningSocket(duplicating: number)
    }

    var connectionCount: Int {
        running.withLock { running in
            guard let handle = unsafe running?.handle else { return 0 }
            return Int(unsafe mhd_connection_count(handle))
        }
    }

    /// Stops accepting connections; existing ones continue.
    func quiesce() {
        running.withLock { running in
            guard let handle = unsafe running?.handle else { return }
            let socket = unsafe MHD_quiesce_daemon(handle)
            if socket >= 0 { close(socket) }
        }
    }

    /// Closes all connections and ends the threads.
    ///
    /// Does nothing while a request is being handled, because libmicrohttpd would terminate the
    /// process.
    ///
    /// - Returns: whether the daemon stopped.
    func stop() -> Bool {
        guard gate.close() else { return false }
        let ended = running.withLock { running in
            defer { running = nil }
            return running
        }
        guard let ended else { return true }
        unsafe MHD_stop_daemon(ended.handle)
        unsafe ended.context.release()
        return true
    }
}

private func item(
    _ option: MHD_OPTION, _ value: Int = 0, _ pointer: UnsafeMutableRawPointer? = nil
) -> MHD_OptionItem {
    unsafe MHD_OptionItem(option: option, value: value, ptr_value: pointer)
}

// libmicrohttpd's options accept a function in place of a number.
private func address<Function>(_ function: Function) -> Int {
    unsafe unsafeBitCast(function, to: Int.self)
}

// The bytes of a `SecretBytes` never move, and the daemon's owner keeps it as long as the daemon.
private func pointer(_ bytes: SecretBytes) -> UnsafeMutableRawPointer? {
    unsafe bytes.withBytes { bytes in
        unsafe bytes.withUnsafeBytes { unsafe UnsafeMutableRawPointer(mutating: $0.baseAddress) }
    }
}

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

/// When the connections of a daemon with a replaced certificate must end.
final class Retirement: Sendable {
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    /// Whether the daemon's connections must have ended by `instant`.
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

    /// Stops accepting connections; existing ones continue.
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
