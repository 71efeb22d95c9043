internal import Synchronization
public import Verification

/// Where a chain ended that a process appended to, as the database acknowledged it.
///
/// A process that keeps it outside the database, and gives it back when it connects again, is not
/// served by a database that was put back to an earlier state.
public struct ChainEnd: Hashable, Sendable {
    /// The chain's last event.
    public let mark: ChainMark
    /// Where in the order of events it stands.
    public let position: UInt64

    /// Puts a kept end together; whether its mark is authentic, the store says.
    public init(mark: ChainMark, position: UInt64) {
        self.mark = mark
        self.position = position
    }
}

/// Where the chains ended that this process appended to, as the database acknowledged it.
///
/// A database that is behind that has lost commits: it was put back to an earlier state, or a standby
/// took over that had not got them all. It would take spent codes again.
final class KnownHeads: Sendable {
    private struct Content {
        var ends: [[UInt8]: ChainEnd] = [:]
        var isBehind = false
        /// Who is told when so many events more were acknowledged, and how many were since.
        var watch: (count: UInt64, tell: @Sendable () -> Void)?
        var untold: UInt64 = 0
    }

    private let content = Mutex(Content())

    init(_ ends: [ChainEnd] = []) {
        content.withLock { content in
            for end in ends { content.ends[end.mark.node] = end }
        }
    }

    /// Remembers what was acknowledged, with its last so many events.
    func acknowledge(_ end: ChainEnd, events: UInt64) {
        let tell = content.withLock { content -> (@Sendable () -> Void)? in
            content.ends[end.mark.node] = end
            content.untold += events
            guard let watch = content.watch, content.untold >= watch.count else { return nil }
            content.untold = 0
            return watch.tell
        }
        tell?()
    }

    /// Calls `tell` whenever so many events more were acknowledged.
    func watch(every count: UInt64, _ tell: @escaping @Sendable () -> Void) {
        content.withLock { $0.watch = (count, tell) }
    }

    /// The chains' ends as they were acknowledged, by their nodes.
    var marks: [[UInt8]: ChainMark] { content.withLock { $0.ends.mapValues(\.mark) } }

    /// Every end that is known.
    var ends: [ChainEnd] { content.withLock { Array($0.ends.values) } }

    /// Whether the database was never seen to be behind.
    var isSound: Bool { content.withLock { !$0.isBehind } }

    /// Looks whether the database has what it acknowledged.
    func compare(with session: PostgreSQLSession) throws(PostgreSQLFailure) {
        guard isSound else { throw .behind }
        let known = ends
        guard !known.isEmpty else { return }
        var arguments = StatementArguments()
        arguments.add(known) { $0.mark.node }
        arguments.add(known, integer: { Int64(clamping: $0.position) })
        let stored = try session.run(.knownHeads, arguments)
            .all { row throws(PostgreSQLFailure) in
                (
                    try row.requiredBytes(), start: try row.unsigned(), end: try row.unsigned(),
                    head: try row.requiredBytes(), event: row.bytes()
                )
            }
        for end in known {
            let found = stored.first { $0.0 == end.mark.node }
            guard let found, found.end >= end.mark.sequence else { throw remember() }
            let isSame =
                if found.end == end.mark.sequence {
                    found.head == end.mark.digest
                } else {
                    // One that was pruned has nothing to be compared with.
                    found.start >= end.mark.sequence || found.event == end.mark.digest
                }
            guard isSame else { throw remember() }
        }
    }

    /// Remembers that the database is behind, for good.
    func remember() -> PostgreSQLFailure {
        content.withLock { $0.isBehind = true }
        return .behind
    }
}

extension PostgreSQLFailure {
    /// The database lacks events that it had acknowledged.
    static let behind = PostgreSQLFailure(extent: .connection, code: "behind")
}
