internal import Synchronization
internal import SQLStore
public import Verification

/// The end of a chain that a process appended to, as the database acknowledged it.
///
/// A process that keeps this value outside the database, and passes it in when it reconnects, can
/// detect and refuse a database that was rolled back to an earlier state.
public struct AcknowledgedCheckpoint: Hashable, Sendable {
    /// The checkpoint of the chain's last event.
    public let mark: ChainCheckpoint
    /// The position of that event in the order of all events.
    public let position: UInt64

    /// Combines the parts of a stored end; the store checks whether its checkpoint is authentic.
    public init(mark: ChainCheckpoint, position: UInt64) {
        self.mark = mark
        self.position = position
    }
}

/// The ends of the chains that this process appended to, as the database acknowledged them.
///
/// A database that is behind these ends has lost commits: the database was rolled back to an
/// earlier state, or a standby without the last commits took over. Such a database would accept
/// spent codes again.
final class AcknowledgedCheckpoints: Sendable {
    private struct Content {
        var ends: [[UInt8]: AcknowledgedCheckpoint] = [:]
        var isBehind = false
        /// The callback for every `count` acknowledged events, and the number of acknowledged
        /// events since its last call.
        var watch: (count: UInt64, tell: @Sendable () -> Void)?
        var untold: UInt64 = 0
    }

    private let content = Mutex(Content())

    init(_ ends: [AcknowledgedCheckpoint] = []) {
        content.withLock { content in
            for end in ends { content.ends[end.mark.node] = end }
        }
    }

    /// Remembers an acknowledged end and counts its new events.
    func acknowledge(_ end: AcknowledgedCheckpoint, events: UInt64) {
        let tell = content.withLock { content -> (@Sendable () -> Void)? in
            content.ends[end.mark.node] = end
            content.untold += events
            guard let watch = content.watch, content.untold >= watch.count else { return nil }
            content.untold = 0
            return watch.tell
        }
        tell?()
    }

    /// Calls `tell` after every `count` acknowledged events.
    func watch(every count: UInt64, _ tell: @escaping @Sendable () -> Void) {
        content.withLock { $0.watch = (count, tell) }
    }

    /// The acknowledged checkpoints, by the node of their chain.
    var marks: [[UInt8]: ChainCheckpoint] { content.withLock { $0.ends.mapValues(\.mark) } }

    /// The acknowledged ends of all chains.
    var ends: [AcknowledgedCheckpoint] { content.withLock { Array($0.ends.values) } }

    /// False once the database has been found to be behind.
    var isSound: Bool { content.withLock { !$0.isBehind } }

    /// Checks that the database still contains all acknowledged events.
    func compare(with session: PostgreSQLSession) throws(StoreFailure) {
        guard isSound else { throw .behind }
        let known = ends
        guard !known.isEmpty else { return }
        var arguments = StatementArguments()
        arguments.add(known) { $0.mark.node }
        arguments.add(known) { $0.position }
        let stored = try session.run(.knownHeads, arguments)
            .all { row throws(StoreFailure) in
                (
                    try row.requiredBytes(), start: try row.read() as UInt64,
                    end: try row.read() as UInt64,
                    head: try row.requiredBytes(), event: try row.bytes()
                )
            }
        for end in known {
            let found = stored.first { $0.0 == end.mark.node }
            guard let found, found.end >= end.mark.sequence else { throw remember() }
            let isSame =
                if found.end == end.mark.sequence {
                    found.head == end.mark.digest
                } else {
                    // A pruned event cannot be compared.
                    found.start >= end.mark.sequence || found.event == end.mark.digest
                }
            guard isSame else { throw remember() }
        }
    }

    /// Records permanently that the database is behind.
    func remember() -> StoreFailure {
        content.withLock { $0.isBehind = true }
        return .behind
    }
}
