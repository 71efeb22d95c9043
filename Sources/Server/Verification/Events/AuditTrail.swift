internal import WatchwordCryptography

/// Walks through stored events and detects events that were deleted, edited, moved or cut off.
///
/// Pass every event in order of position to ``check(_:)``, then call ``findings()``. On its own,
/// the trail cannot detect that a node was deleted together with its record, or that the events and
/// the record were rolled back together. Checkpoints that were kept elsewhere reveal both; see
/// ``init(chains:checkpoints:key:)``.
public struct AuditTrail: Sendable {
    /// A fault in a chain, and its place.
    public enum Finding: Hashable, Sendable {
        /// A node's record is not authentic.
        case forgedRecord(node: [UInt8])
        /// A node has events but no record.
        case unknownNode([UInt8])
        /// Events of this node are missing, duplicated or out of order at this number.
        case gap(node: [UInt8], sequence: UInt64)
        /// This event or an earlier event differs from the written one.
        case altered(node: [UInt8], sequence: UInt64)
        /// The end of the chain is missing: all events after this number.
        case truncated(node: [UInt8], behind: UInt64)
        /// This event comes after the recorded head.
        case beyondHead(node: [UInt8], sequence: UInt64)
        /// An event is not at its original position, or other events are missing before it.
        case moved(node: [UInt8], sequence: UInt64)
        /// The recorded position of the chain's head is not that of its last event.
        case movedHead(node: [UInt8])
        /// A checkpoint is not authentic, contradicts the chain, or names a missing event that was
        /// not pruned.
        case checkpoint(node: [UInt8], sequence: UInt64)
    }

    private struct Progress {
        let head: ChainCheckpoint
        let headPosition: UInt64
        var sequence: UInt64
        var digest: [UInt8]
        var position: UInt64
        var behind: UInt64
    }

    private let key: AuditKey
    private var nodes: [[UInt8]: Progress] = [:]
    private var checkpoints: [[UInt8]: [UInt64: [UInt8]]] = [:]
    private var found: [Finding] = []
    /// The position of the last event that was checked.
    private var position: UInt64?

    /// Begins at the recorded starts of the chains.
    ///
    /// - Parameter checkpoints: checkpoints that were kept outside the database.
    public init(chains: [ChainRecord], checkpoints: [ChainCheckpoint] = [], key: AuditKey) {
        self.key = key
        for chain in chains {
            let isStartAuthentic = key.isAuthentic(chain.start)
            let isHeadAuthentic = key.isAuthentic(chain.head)
            if !isStartAuthentic || !isHeadAuthentic || chain.start.node != chain.head.node {
                found.append(.forgedRecord(node: chain.head.node))
            }
            nodes[chain.head.node] = Progress(
                head: chain.head, headPosition: chain.headPosition,
                sequence: chain.start.sequence, digest: chain.start.digest,
                position: chain.start.position, behind: chain.start.behind)
        }
        for mark in checkpoints {
            let chain = chains.first { $0.head.node == mark.node }
            guard key.isAuthentic(mark), let chain, fits(mark, chain) else {
                found.append(.checkpoint(node: mark.node, sequence: mark.sequence))
                continue
            }
            self.checkpoints[mark.node, default: [:]][mark.sequence] = mark.digest
        }
    }

    /// Whether a checkpoint is consistent with the chain's start and head.
    private func fits(_ mark: ChainCheckpoint, _ chain: ChainRecord) -> Bool {
        let start = chain.start
        if mark.sequence > start.sequence { return mark.sequence <= chain.head.sequence }
        if mark.sequence == start.sequence { return mark.digest == start.digest }
        // The event no longer exists. Only pruning explains that.
        guard start.pruning != nil else { return false }
        return key.isAuthentic(start)
    }

    /// Checks the next event, in order of position.
    public mutating func check(_ event: ChainedEvent) {
        guard var progress = nodes[event.node] else {
            if !found.contains(.unknownNode(event.node)) { found.append(.unknownNode(event.node)) }
            return
        }
        // One fault per event is enough. The check then continues from this event, so that later
        // events are reported only if they have independent faults.
        let expected = key.tying(event, behind: progress.digest).digest
        if event.sequence != progress.sequence + 1 {
            found.append(.gap(node: event.node, sequence: event.sequence))
        } else if !isEqualInConstantTime(expected.span, event.digest.span)
            || event.event?.time != event.time
        {
            found.append(.altered(node: event.node, sequence: event.sequence))
        } else if event.sequence > progress.head.sequence {
            found.append(.beyondHead(node: event.node, sequence: event.sequence))
        } else if !stands(event, behind: progress) {
            found.append(.moved(node: event.node, sequence: event.sequence))
        }
        if let digest = checkpoints[event.node]?[event.sequence], digest != event.digest {
            found.append(.checkpoint(node: event.node, sequence: event.sequence))
        }
        progress.sequence = event.sequence
        progress.digest = event.digest
        progress.position = event.position
        progress.behind = event.behind
        nodes[event.node] = progress
        position = event.position
    }

    /// Whether no fault was found in the records and in the events checked so far.
    var isIntactSoFar: Bool { found.isEmpty }

    /// Whether an event's position directly follows that of the previous event of any node and
    /// agrees with its own chain.
    ///
    /// Positions have no gaps, except before the first event of a chain, because a restored
    /// database continues at a later position.
    private func stands(_ event: ChainedEvent, behind last: Progress) -> Bool {
        let isNext = position.map { $0 + 1 == event.position } ?? true
        // The first event of a commit names the chain's position before the commit. The other
        // events follow without a gap.
        let isFirst = event.behind == last.position
        let continuesChain = event.behind == last.behind && event.position == last.position + 1
        return (isNext || event.sequence == 1) && (isFirst || continuesChain)
    }

    /// All findings, in order; called after all events have been checked.
    public func findings() -> [Finding] {
        var all = found
        for (node, progress) in nodes where progress.sequence < progress.head.sequence {
            all.append(.truncated(node: node, behind: progress.sequence))
        }
        for (node, progress) in nodes
        where progress.sequence == progress.head.sequence
            && progress.digest != progress.head.digest
        {
            all.append(.altered(node: node, sequence: progress.sequence))
        }
        for (node, progress) in nodes
        where progress.sequence == progress.head.sequence
            && progress.position != progress.headPosition
        {
            all.append(.movedHead(node: node))
        }
        return all
    }
}

/// Compares the stored rows with the events, and finds rows that differ from their last written
/// version.
///
/// Pass every event in order of position to ``take(_:)``, then every row to ``check(_:)``, then
/// call ``findings()``. A row whose events are all pruned cannot be compared.
public struct RowAudit: Sendable {
    /// A fault in a row, and its place.
    public enum Finding: Hashable, Sendable {
        /// A row that this program did not write, identified by its table and stored key.
        case damaged(table: String, key: [UInt8])
        /// An older version of the row is stored, or was stored at some point.
        case rolledBack(RowMark.Owner)
        /// No event records this version of the row.
        case unrecorded(RowMark.Owner)
        /// The row's last event exists, but the row is missing.
        case missing(RowMark.Owner)
    }

    private let key: AuditKey
    /// Whether no event was pruned.
    private let hasAllEvents: Bool
    private var last: [RowMark.Owner: RowMark] = [:]
    private var found: Set<Finding> = []

    /// Takes the chains' records, which show whether events were pruned.
    public init(chains: [ChainRecord], key: AuditKey) {
        self.key = key
        hasAllEvents = chains.allSatisfy { $0.start.pruning == nil }
    }

    /// Takes the next event, in order of position.
    public mutating func take(_ event: ChainedEvent) {
        for row in event.recorded?.rows ?? [] {
            if let earlier = last[row.owner], earlier.version >= row.version {
                found.insert(.rolledBack(row.owner))
            }
            last[row.owner] = row
        }
    }

    /// Checks rows of one table, in any order.
    public mutating func check<Row: StoredRow>(_ rows: [AuditedRow<Row>]) {
        for row in rows {
            switch row {
            case .whole(let row): if let mark = mark(of: row) { check(mark) }
            case .damaged(let key): checkDamaged(table: Row.table, key: key)
            }
        }
    }

    /// The mark of the row that the last event must contain; `nil` if events do not record such
    /// rows.
    private func mark(of row: some StoredRow) -> RowMark? {
        switch row {
        case let row as CredentialRow: RowMark(row, code: key.code(of: row))
        case let row as ClientRow: RowMark(row, code: key.code(of: row))
        default: nil
        }
    }

    private mutating func check(_ stored: RowMark) {
        guard let written = last.removeValue(forKey: stored.owner) else {
            if hasAllEvents { found.insert(.unrecorded(stored.owner)) }
            return
        }
        if stored.version < written.version {
            found.insert(.rolledBack(stored.owner))
        } else if stored != written {
            found.insert(.unrecorded(stored.owner))
        }
    }

    private mutating func checkDamaged(table: String, key: [UInt8]) {
        found.insert(.damaged(table: table, key: key))
        switch table {
        case CredentialRow.table:
            if let id = CredentialID(bytes: key) { last[.credential(id)] = nil }
        case ClientRow.table: last[.client(key)] = nil
        default: break
        }
    }

    /// All findings, in order; called after all events and rows have been checked.
    public func findings() -> [Finding] {
        // An expired pending row, or an ended row that proves nothing, is pruned without an event.
        let missing = last.values.filter { !$0.isPending }.map { Finding.missing($0.owner) }
        return found.union(missing).sorted { $0.order < $1.order }
    }
}

/// A row as an audit reads it.
public enum AuditedRow<Row: StoredRow>: Sendable {
    /// A row whose authentication code is correct.
    case whole(Row)
    /// A row that is not authentic, identified by its stored key.
    case damaged(key: [UInt8])

    /// The primary key as stored.
    public var key: [UInt8] {
        switch self {
        case .whole(let row): row.primaryKey
        case .damaged(let key): key
        }
    }
}

extension RowAudit.Finding {
    /// Orders by kind, then by row.
    fileprivate var order: String {
        switch self {
        case .damaged(let table, let key): "1 \(table) \(key)"
        case .rolledBack(let owner): "2 \(owner.order)"
        case .unrecorded(let owner): "3 \(owner.order)"
        case .missing(let owner): "4 \(owner.order)"
        }
    }
}

extension RowMark.Owner {
    fileprivate var order: String {
        switch self {
        case .credential(let id): "1 \(id.text)"
        case .client(let id): "2 \(id)"
        }
    }
}

/// The result of an audit of a database.
public struct AuditReport: Hashable, Sendable {
    /// Problems in the event chains; empty if there are none.
    public let findings: [AuditTrail.Finding]
    /// Problems in the rows; empty if there are none, or if the database's structure is damaged.
    public let rows: [RowAudit.Finding]
    /// The number of events in the database.
    public let events: Int
    /// The end of each chain.
    ///
    /// Kept outside the database, these checkpoints reveal a later rollback to an earlier state.
    public let marks: [ChainCheckpoint]
    /// Whether the database's structure is intact, as far as the store checks it.
    ///
    /// SQLite checks it with `PRAGMA integrity_check`; PostgreSQL reports damage when it reads a
    /// page.
    public let isSound: Bool

    /// Combines the findings in chains and rows.
    package init(
        findings: [AuditTrail.Finding], rows: [RowAudit.Finding], events: Int,
        marks: [ChainCheckpoint], isSound: Bool
    ) {
        self.findings = findings
        self.rows = rows
        self.events = events
        self.marks = marks
        self.isSound = isSound
    }
}
