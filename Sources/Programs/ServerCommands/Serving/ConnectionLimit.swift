import HTTPListener
import VerificationService
import WatchwordSystem

/// The number of connections that the system's limit on open files permits.
///
/// Each connection is an open file. Without its own limit, the listener would exhaust the
/// system's limit, and the database could not open its files.
struct ConnectionLimit: Sendable {
    static let most = ListenerLimits().connections
    /// With fewer connections, the server does not start.
    static let fewest = 64
    /// Health and metrics have few clients.
    static let operations = 64
    /// Other open files: the database, the log, and the event queues of libmicrohttpd's threads,
    /// including those of replaced certificates.
    private static let reserve = 192

    /// The limit on open files.
    let files: Int

    /// Raises the limit on open files as far as needed and permitted.
    ///
    /// - Throws: ``ServerFailure/tooFewFiles(_:needed:)`` if the limit is too low for the service.
    init() throws(ServerFailure) {
        let others = Self.operations + Self.reserve
        do { files = try OpenFileLimit.raise(to: Self.most + others) } catch {
            throw .system(error)
        }
        guard service >= Self.fewest else {
            throw .tooFewFiles(files, needed: Self.fewest + others)
        }
    }

    /// The maximum number of connections of the service.
    var service: Int { min(Self.most, files - Self.operations - Self.reserve) }

    /// Whether the service gets fewer connections than usual.
    var isShort: Bool { service < Self.most }
}

extension ListenerLimits {
    /// The limits of the service, with this maximum number of connections.
    init(connections: Int, proxies: TrustedProxies) {
        self.init()
        body = Service.maximumBodySize
        self.connections = connections
        isProxy = proxies.isTrusted
    }
}
