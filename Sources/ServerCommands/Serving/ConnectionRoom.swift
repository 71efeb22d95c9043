import HTTPListener
import POSIX

/// How many connections there is room for: each is an open file, and the system has a limit for those.
///
/// Without a limit of its own the listener would meet the system's, and the database would find no file
/// left for itself.
struct ConnectionRoom: Sendable {
    static let most = ListenerLimits().connections
    /// Fewer are no service.
    static let fewest = 64
    /// Health and metrics are asked for by a few.
    static let operations = 64
    /// What else is open: the database, the log, what libmicrohttpd's threads wait at, also those of
    /// certificates that were replaced.
    private static let reserve = 192

    /// How many files there may be.
    let files: Int

    /// Asks the system for the files that all of it takes.
    ///
    /// - Throws: ``ServerFailure/fewFiles(_:needed:)`` when there is no room for a service.
    init() throws(ServerFailure) {
        let others = Self.operations + Self.reserve
        do { files = try OpenFileLimit.raise(to: Self.most + others) } catch {
            throw .system(error)
        }
        guard service >= Self.fewest else {
            throw .fewFiles(files, needed: Self.fewest + others)
        }
    }

    /// How many connections the service may have.
    var service: Int { min(Self.most, files - Self.operations - Self.reserve) }

    /// Whether it is less than what is usual.
    var isShort: Bool { service < Self.most }
}

extension ListenerLimits {
    /// The usual limits, for so many connections.
    init(connections: Int) {
        self.init()
        self.connections = connections
    }
}
