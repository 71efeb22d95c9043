public import Foundation
import Synchronization

extension Process {
    private static let starting = Mutex(())

    /// Runs it, one process after the other.
    ///
    /// Foundation notices a child's end by a socket that the child holds. Another child that is started at
    /// the same moment inherits it, and while that one lives the first one never ends.
    public func start() throws {
        try Self.starting.withLock { _ in try run() }
    }
}
