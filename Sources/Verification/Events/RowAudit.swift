public import Cryptography

/// Compares the stored rows with the events, and says which are not what was written last.
///
/// Feed it every event in the order of positions, then every row, then ask ``findings()``. The row of a
/// credential or client whose events are all pruned has nothing to be compared with.
public struct RowAudit: Sendable {
    /// What is wrong, and where.
    public enum Finding: Hashable, Sendable {
        /// A row is not what this program wrote; the table, and the row's key as it stands there.
        case damaged(table: String, key: [UInt8])
        /// An older version of the row is stored, or was at some time.
        case putBack(RowMark.Owner)
        /// No event tells of this version of the row.
        case unrecorded(RowMark.Owner)
        /// The row is gone.
        case missing(RowMark.Owner)
    }

    private let key: AuditKey
    /// Whether no event was pruned.
    private let hasAllEvents: Bool
    private var last: [RowMark.Owner: RowMark] = [:]
    private var found: Set<Finding> = []

    /// Begins without any event.
    public init(chains: [ChainRecord], key: AuditKey) {
        self.key = key
        hasAllEvents = chains.allSatisfy { $0.start.pruning == nil }
    }

    /// Takes the next event.
    public mutating func take(_ event: ChainedEvent) {
        for row in event.recorded?.rows ?? [] {
            if let earlier = last[row.owner], earlier.version >= row.version {
                found.insert(.putBack(row.owner))
            }
            last[row.owner] = row
        }
    }

    /// Takes rows of one table, in any order.
    public mutating func check<Row: StoredRow>(
        _ rows: [AuditedRow<Row>]
    ) throws(CryptographyFailure) {
        for row in rows {
            switch row {
            case .whole(let row): if let mark = try mark(of: row) { check(mark) }
            case .damaged(let key): checkDamaged(table: Row.table, key: key)
            }
        }
    }

    /// What the last event of the row must tell, if events tell of such rows.
    private func mark(of row: some StoredRow) throws(CryptographyFailure) -> RowMark? {
        switch row {
        case let row as CredentialRow: RowMark(row, code: try key.code(of: row))
        case let row as ClientRow: RowMark(row, code: try key.code(of: row))
        default: nil
        }
    }

    private mutating func check(_ stored: RowMark) {
        guard let written = last.removeValue(forKey: stored.owner) else {
            if hasAllEvents { found.insert(.unrecorded(stored.owner)) }
            return
        }
        if stored.version < written.version {
            found.insert(.putBack(stored.owner))
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

    /// Everything that was found, once all events and rows were taken.
    public func findings() -> [Finding] {
        // A pending row goes without an event when its time is up.
        let missing = last.values.filter { !$0.isPending }.map { Finding.missing($0.owner) }
        return found.union(missing).sorted { $0.order < $1.order }
    }
}

/// A row as an audit reads it.
public enum AuditedRow<Row: StoredRow>: Sendable {
    /// One that is authentic.
    case whole(Row)
    /// One that is not, by what stands there for its key.
    case damaged(key: [UInt8])

    /// The primary key, as it stands there.
    public var key: [UInt8] {
        switch self {
        case .whole(let row): row.primaryKey
        case .damaged(let key): key
        }
    }
}

extension RowAudit.Finding {
    /// By the kind, then by the row.
    fileprivate var order: String {
        switch self {
        case .damaged(let table, let key): "1 \(table) \(key)"
        case .putBack(let owner): "2 \(owner.order)"
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
