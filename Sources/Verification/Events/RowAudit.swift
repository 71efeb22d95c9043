public import Cryptography

/// Compares the stored rows with the events, and says which are not what was written last.
///
/// Feed it every event in the order of positions, then every row, then ask ``findings()``. A credential
/// whose events are all pruned has nothing to be compared with.
public struct RowAudit: Sendable {
    /// What is wrong, and where.
    public enum Finding: Hashable, Sendable {
        /// A row is not what this program wrote; the table, and the row's key as it stands there.
        case damaged(table: String, key: [UInt8])
        /// An older version of the credential's row is stored, or was at some time.
        case putBack(CredentialID)
        /// No event tells of this version of the credential's row.
        case unrecorded(CredentialID)
        /// The credential's row is gone.
        case missing(CredentialID)
    }

    private let key: AuditKey
    /// Whether no event was pruned.
    private let hasAllEvents: Bool
    private var last: [CredentialID: RowMark] = [:]
    private var found: Set<Finding> = []

    /// Begins without any event.
    public init(chains: [ChainRecord], key: AuditKey) {
        self.key = key
        hasAllEvents = chains.allSatisfy { $0.start.pruning == nil }
    }

    /// Takes the next event.
    public mutating func take(_ event: ChainedEvent) {
        for row in event.recorded?.rows ?? [] {
            if let earlier = last[row.credential], earlier.version >= row.version {
                found.insert(.putBack(row.credential))
            }
            last[row.credential] = row
        }
    }

    /// Takes rows of one table, in any order.
    public mutating func check<Row: StoredRow>(
        _ rows: [AuditedRow<Row>]
    ) throws(CryptographyFailure) {
        for row in rows {
            switch row {
            case .whole(let row): if let row = row as? CredentialRow { try check(row) }
            case .damaged(let key): checkDamaged(table: Row.table, key: key)
            }
        }
    }

    private mutating func check(_ row: CredentialRow) throws(CryptographyFailure) {
        guard let written = last.removeValue(forKey: row.id) else {
            if hasAllEvents { found.insert(.unrecorded(row.id)) }
            return
        }
        if row.version < written.version {
            found.insert(.putBack(row.id))
        } else if RowMark(row, code: try key.code(of: row)) != written {
            found.insert(.unrecorded(row.id))
        }
    }

    private mutating func checkDamaged(table: String, key: [UInt8]) {
        found.insert(.damaged(table: table, key: key))
        if table == CredentialRow.table, let id = CredentialID(bytes: key) { last[id] = nil }
    }

    /// Everything that was found, once all events and rows were taken.
    public func findings() -> [Finding] {
        // A pending row goes without an event when its time is up.
        let missing = last.values.filter { !$0.isPending }.map { Finding.missing($0.credential) }
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
        case .putBack(let id): "2 \(id.text)"
        case .unrecorded(let id): "3 \(id.text)"
        case .missing(let id): "4 \(id.text)"
        }
    }
}
