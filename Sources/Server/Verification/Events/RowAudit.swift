internal import WatchwordCryptography

/// Compares the stored rows with the events, and finds rows that differ from what was written last.
///
/// Pass every event in order of position to ``take(_:)``, then every row to ``check(_:)``, then
/// call ``findings()``. A row whose events are all pruned cannot be compared.
public struct RowAudit: Sendable {
    /// A fault and its place.
    public enum Finding: Hashable, Sendable {
        /// A row that this program did not write, by table and stored key.
        case damaged(table: String, key: [UInt8])
        /// An older version of the row is stored, or was stored at some point.
        case rolledBack(RowMark.Owner)
        /// No event records this version of the row.
        case unrecorded(RowMark.Owner)
        /// The row is missing.
        case missing(RowMark.Owner)
    }

    private let key: AuditKey
    /// Whether no event was pruned.
    private let hasAllEvents: Bool
    private var last: [RowMark.Owner: RowMark] = [:]
    private var found: Set<Finding> = []

    /// Starts without any events.
    public init(chains: [ChainRecord], key: AuditKey) {
        self.key = key
        hasAllEvents = chains.allSatisfy { $0.start.pruning == nil }
    }

    /// Adds the next event.
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

    /// The mark that the row's last event must contain; `nil` if events do not record such rows.
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

    /// All findings, after all events and rows have been checked.
    public func findings() -> [Finding] {
        // An expired pending row, or an ended one that proves nothing, is pruned without an event.
        let missing = last.values.filter { !$0.isPending }.map { Finding.missing($0.owner) }
        return found.union(missing).sorted { $0.order < $1.order }
    }
}

/// A row as an audit reads it.
public enum AuditedRow<Row: StoredRow>: Sendable {
    /// An authentic row.
    case whole(Row)
    /// A row that is not authentic, by its stored key.
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
