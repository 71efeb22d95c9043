internal import Synchronization
package import WatchwordCryptography
package import WatchwordSystem

/// A socket to which processes of this machine connect.
///
/// If this process created the socket, it is removed with the last reference.
package final class LocalEndpoint: Sendable {
    let file: FileDescriptor
    private let path: String?

    /// The maximum number of connections that wait to be accepted: the kernel's default limit
    /// (`net.core.somaxconn`).
    private static let backlog: Int32 = 4_096

    /// Takes a listening socket.
    ///
    /// If `path` is given, this process created the socket, and removes it.
    package init(_ file: consuming FileDescriptor, madeAt path: String? = nil) {
        self.file = file
        self.path = path
    }

    /// Creates a socket at `path` with these permission bits.
    ///
    /// It replaces a socket on which no process listens.
    ///
    /// - Throws: `bind` with `EADDRINUSE` if anything else is at the path.
    package static func make(
        at path: String, mode: UInt32
    ) throws(SystemCallFailure) -> LocalEndpoint {
        let first = try SystemCallFailure.nilIf(
            \.isAddressInUse, LocalSocket.listen(at: path, mode: mode, backlog: backlog))
        if let first { return LocalEndpoint(first, madeAt: path) }
        _ = try LocalSocket.removeAbandoned(at: path)
        return LocalEndpoint(
            try LocalSocket.listen(at: path, mode: mode, backlog: backlog), madeAt: path)
    }

    deinit {
        // If the socket cannot be removed, the next start replaces it.
        if let path { Folder.removeFile(at: path) }
    }
}

/// A socket, the processes that may connect to it, and the way in which connections are handled.
package struct LocalEntrance: Sendable {
    /// How a connection is handled.
    package enum Use: Sendable {
        /// One request is received and one response is sent, and the connection is closed.
        case exchange(ExchangeLimits, Responder)
        /// The connection is handed over to the closure, which returns at once.
        case conversation(Receiver)
    }

    /// Responds to a request; `nil` closes the connection without a response.
    ///
    /// The response must be short enough to be sent at once.
    package typealias Responder = @Sendable (SecretBytes, LocalSocket.Peer) async -> [UInt8]?
    /// Takes over a connection, which is non-blocking.
    package typealias Receiver = @Sendable (consuming FileDescriptor, LocalSocket.Peer) -> Void

    let endpoint: LocalEndpoint
    let use: Use
    /// Whether a process may connect; if not, its connection is closed at once.
    let admits: @Sendable (LocalSocket.Peer) -> Bool
    /// Called for each connection that is closed before anything is read; it must not block.
    let noteClosed: @Sendable (ClosingCause) -> Void
    let occupancy: Occupancy

    package init(
        _ endpoint: LocalEndpoint, admitting admits: @escaping @Sendable (LocalSocket.Peer) -> Bool,
        for use: Use, noteClosed: @escaping @Sendable (ClosingCause) -> Void
    ) {
        self.endpoint = endpoint
        self.admits = admits
        self.use = use
        self.noteClosed = noteClosed
        switch use {
        case .exchange(let limits, _):
            occupancy = Occupancy(
                limit: limits.connections, limitPerUser: limits.connectionsPerUser)
        // The receiver has its own limits.
        case .conversation: occupancy = Occupancy(limit: .max, limitPerUser: .max)
        }
    }
}

/// Why a connection is closed before anything is read; the raw value appears in metrics.
package enum ClosingCause: String, Sendable {
    /// The user may not use the socket.
    case foreignUser = "foreign-user"
    /// The user has too many connections.
    case tooMany = "too-many-connections"
}

/// Limits for the clients of a socket on which one request is answered per connection.
package struct ExchangeLimits: Sendable {
    /// The size of a request in bytes; one more byte is read to detect a longer request.
    let requestCount: Int
    /// The maximum number of connections at a time.
    let connections: Int
    /// The maximum number of connections of one user; further ones are closed.
    let connectionsPerUser: Int
    /// The time from accepting a connection to the end of its request.
    let requestTimeout: Duration

    package init(
        requestCount: Int, connections: Int, connectionsPerUser: Int,
        requestTimeout: Duration = .seconds(5)
    ) {
        self.requestCount = requestCount
        self.connections = connections
        self.connectionsPerUser = connectionsPerUser
        self.requestTimeout = requestTimeout
    }
}

/// The number of open connections of each user to one socket.
final class Occupancy: Sendable {
    private struct Counts {
        var total = 0
        var ofUsers: [UInt32: Int] = [:]
    }

    private let limit: Int
    private let limitPerUser: Int
    private let counts = Mutex(Counts())

    init(limit: Int, limitPerUser: Int) {
        self.limit = limit
        self.limitPerUser = limitPerUser
    }

    /// Whether a further connection may be accepted now; if not, it waits in the kernel.
    var hasRoom: Bool { counts.withLock { $0.total < limit } }

    /// Counts a connection, unless the user has too many; returns whether it was counted.
    func enter(_ user: UInt32) -> Bool {
        counts.withLock { counts in
            let own = counts.ofUsers[user] ?? 0
            guard own < limitPerUser else { return false }
            counts.ofUsers[user] = own + 1
            counts.total += 1
            return true
        }
    }

    /// Stops counting a connection; returns whether the limit was reached before.
    func leave(_ user: UInt32) -> Bool {
        counts.withLock { counts in
            defer { counts.total -= 1 }
            let others = (counts.ofUsers[user] ?? 1) - 1
            counts.ofUsers[user] = others > 0 ? others : nil
            return counts.total == limit
        }
    }
}
