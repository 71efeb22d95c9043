public import Foundation
import Synchronization

extension Process {
    private static let starting = Mutex(())

    /// Runs the process.
    ///
    /// Starts are serialised.
    ///
    /// Foundation notices the end of a child by a socket that the child holds. A second child
    /// started at the same moment inherits that socket, and the first child does not appear to end
    /// while the second one lives.
    public func start() throws {
        try Self.starting.withLock { _ in try run() }
    }
}
