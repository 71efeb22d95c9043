public import Foundation
import Synchronization

extension Process {
    private static let starting = Mutex(())

    /// Runs the process.
    ///
    /// Starts are serialised.
    ///
    /// Foundation detects the end of a child through a socket that the child holds open. A second
    /// child started at the same moment inherits that socket, and the first child does not appear
    /// to end while the second one runs.
    public func start() throws {
        try Self.starting.withLock { _ in try run() }
    }
}
