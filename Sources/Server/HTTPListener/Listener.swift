internal import Glibc
internal import Synchronization
public import WatchwordCoding
public import WatchwordCryptography

/// Accepts HTTP or HTTPS requests and passes them to a closure, without interpreting them.
///
/// libmicrohttpd's threads read and write; each complete request is handled in its own task.
public final class Listener: Sendable {
    /// Responds to a request; its field names are in lower case, and repeated fields are joined.
    public typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse
    /// Creates the response to a request that the listener refuses.
    public typealias RefusalHandler = @Sendable (HTTPRequestError, _ peer: String) -> HTTPResponse

    /// The address with the actual port.
    public let address: ListenAddress
    let handler: Handler
    let refuser: RefusalHandler
    let registry: ConnectionRegistry
    /// The number of requests that have begun but have not been answered yet.
    let begun = Mutex(0)
    private let draining = Mutex(false)
    let daemons: DaemonSet
    private let reaper: Task<Void, Never>

    /// Starts listening.
    ///
    /// - Parameters:
    ///   - tls: if given, HTTPS is used (TLS 1.2 and 1.3), otherwise HTTP.
    public static func start(
        on address: ListenAddress, tls: TLSIdentity? = nil,
        limits: ListenerLimits = ListenerLimits(),
        refuser: @escaping RefusalHandler, handler: @escaping Handler
    ) throws(ListenerFailure) -> Listener {
        try Listener(
            address, tls: tls, registry: ConnectionRegistry(limits), refuser: refuser,
            handler: handler)
    }

    init(
        _ address: ListenAddress, tls: TLSIdentity?, registry: ConnectionRegistry,
        refuser: @escaping RefusalHandler, handler: @escaping Handler
    ) throws(ListenerFailure) {
        self.refuser = refuser
        self.handler = handler
        self.registry = registry
        let socket = try ListeningSocket(address)
        self.address = address.with(port: socket.port)
        let first = Daemon(tls: tls)
        let daemons = DaemonSet(first)
        self.daemons = daemons
        reaper = Task {
            // Cancelling the task also wakes it.
            while !Task.isCancelled {
                do { try await Task.sleep(for: Listener.reaping) } catch { return }
                registry.cutOff(at: registry.now())
                daemons.stopUnused(at: registry.now())
            }
        }
        do throws(ListenerFailure) {
            try first.start(self, socket: socket)
        } catch {
            reaper.cancel()
            throw error
        }
    }

    /// The interval at which slow connections are checked.
    private static let reaping = Duration.milliseconds(200)

    /// Uses a different certificate for new connections.
    ///
    /// Open connections keep the old one, for at most ``ListenerLimits/retiredLifetime``.
    ///
    /// - Throws: if the new certificate cannot be used; the old one then stays in use.
    public func replace(tls: TLSIdentity) throws(ListenerFailure) {
        try replaceDaemon(tls: tls)
    }

    func replaceDaemon(tls: TLSIdentity?) throws(ListenerFailure) {
        try daemons.replace(
            with: Daemon(tls: tls), at: registry.now(), lifetime: limits.retiredLifetime
        ) {
            daemon, socket throws(ListenerFailure) in
            try daemon.start(self, socket: socket)
        }
    }

    /// Called when a request is over, answered or not.
    func end(_ exchange: ConnectionExchange, from peer: PeerAddress, hasFailed: Bool) {
        begun.withLock { $0 -= 1 }
        // The request failed, but the client did not abort it, and we did not refuse it: the
        // library did.
        if hasFailed, exchange.isIncomplete { _ = refuser(.refusedByLibrary, peer.text) }
    }

    var limits: ListenerLimits { registry.limits }
    var isDraining: Bool { draining.withLock { $0 } }

    /// Stops accepting connections, completes the requests that have begun, and stops.
    ///
    /// - Parameter grace: how long the remaining requests may take.
    /// - Returns: whether all of them were answered.
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

/// Limits for clients of the listener.
public struct ListenerLimits: Sendable {
    /// The maximum size of a request's body in bytes.
    public var body = 64 << 10
    /// The maximum size of a request's first line and headers in bytes.
    public var headers = 16 << 10
    /// The maximum number of connections; each one is an open file and needs about 70 KB.
    ///
    /// They include those of replaced daemons; libmicrohttpd counts only its own. When nearly as
    /// many are open, a new one replaces an existing one.
    public var connections = 4_096
    /// The maximum number of connections from one address (an IPv6 /64 network counts as one; the
    /// networks of a /48 together have four times as many).
    public var connectionsPerAddress = 200
    /// Whether an address belongs to a proxy, which is exempt from ``connectionsPerAddress``.
    public var isProxy: @Sendable (_ address: String) -> Bool = { _ in false }
    /// The maximum time from connecting, or from the previous response, to the end of the headers.
    public var headerTimeout = Duration.seconds(15)
    /// The maximum time for receiving the body.
    public var bodyTimeout = Duration.seconds(15)
    /// The maximum time that the client may take to receive the response.
    public var responseTimeout = Duration.seconds(15)

    /// The maximum lifetime of a connection; the last response within this time closes the
    /// connection.
    public var connectionLifetime = Duration.seconds(3_600)
    /// The remaining lifetime of a connection after its certificate was replaced.
    public var retiredLifetime = Duration.seconds(300)

    /// Sets the default limits: 4,096 connections, 200 per address, and the times above.
    public init() {}
}

/// A certificate chain and its private key, both in PEM.
public struct TLSIdentity: Sendable {
    let certificate: [UInt8]
    let key: SecretBytes

    /// Combines a certificate and a key that are known to match.
    public init(certificate: [UInt8], key: SecretBytes) {
        self.certificate = certificate
        self.key = key
    }
}

/// Why the listener could not start or load a certificate.
public enum ListenerFailure: Error, Hashable, Sendable {
    /// A system call failed, most often `bind` with `EADDRINUSE`.
    case system(call: String, number: Int32)
    /// libmicrohttpd did not start and gave no reason.
    case notStarted
    /// This many earlier certificates are still in use by open connections.
    case earlierCertificatesInUse(Int)
}
