internal import Synchronization
internal import Verification

/// Where the chains ended that this process appended to, as the database acknowledged it.
///
/// A database that is behind that has lost commits: it was put back to an earlier state, or a standby
/// took over that had not got them all. It would take spent codes again.
final class KnownHeads: Sendable {
    struct Head: Sendable {
        let mark: ChainMark
        /// Where in the order of events it stands; nothing when no event was appended yet.
        let position: UInt64?
    }

    private struct Content {
        var heads: [[UInt8]: Head] = [:]
        var isBehind = false
    }

    private let content = Mutex(Content())

    /// Remembers what was acknowledged.
    func acknowledge(_ mark: ChainMark, position: UInt64?) {
        content.withLock { $0.heads[mark.node] = Head(mark: mark, position: position) }
    }

    /// The chain's end as it was acknowledged.
    func head(of node: [UInt8]) -> ChainMark? { content.withLock { $0.heads[node]?.mark } }

    /// Every end that is known.
    var marks: [ChainMark] { content.withLock { $0.heads.values.map(\.mark) } }

    /// Whether the database was never seen to be behind.
    var isSound: Bool { content.withLock { !$0.isBehind } }

    /// Looks whether the database has what it acknowledged.
    func compare(with session: PostgreSQLSession) throws(PostgreSQLFailure) {
        guard isSound else { throw .behind }
        let known = content.withLock { Array($0.heads.values) }
        guard !known.isEmpty else { return }
        var arguments = StatementArguments()
        arguments.add(known) { $0.mark.node }
        arguments.add(known, integer: { Int64(clamping: $0.position ?? 0) })
        let stored = try session.run(.knownHeads, arguments)
            .all { row throws(PostgreSQLFailure) in
                (
                    try row.requiredBytes(), start: try row.unsigned(), end: try row.unsigned(),
                    head: try row.requiredBytes(), event: row.bytes()
                )
            }
        for head in known {
            let found = stored.first { $0.0 == head.mark.node }
            guard let found, found.end >= head.mark.sequence else { throw remember() }
            let isSame =
                if found.end == head.mark.sequence {
                    found.head == head.mark.digest
                } else {
                    // One that was pruned, or the place before the first, has nothing to compare.
                    found.start >= head.mark.sequence || head.position == nil
                        || found.event == head.mark.digest
                }
            guard isSame else { throw remember() }
        }
    }

    private func remember() -> PostgreSQLFailure {
        content.withLock { $0.isBehind = true }
        return .behind
    }
}

extension PostgreSQLFailure {
    /// The database lacks events that it had acknowledged.
    static let behind = PostgreSQLFailure(extent: .connection, code: "behind")
}
