internal import Verification

/// A commit that waits to be made.
struct CommitJob: Sendable {
    let changes: [StoreChange]
    /// The rows that it touches.
    let keys: [RowKey]
    /// Whether a row is touched more than once, so that the changes happen one after the other.
    let isOrdered: Bool
    /// Takes the answer; on the connection's thread.
    let finish: @Sendable (Result<CommitOutcome, StoreFailure>) -> Void

    init(
        _ changes: [StoreChange],
        finish: @escaping @Sendable (Result<CommitOutcome, StoreFailure>) -> Void
    ) {
        self.changes = changes
        self.finish = finish
        keys = changes.flatMap(\.rowKeys)
        isOrdered = Set(keys).count < keys.count
    }

    /// Takes from the front of `jobs` what can be one transaction: members that have no row in common.
    static func take(_ jobs: inout [CommitJob]) -> [CommitJob] {
        guard jobs.count > 1, let first = jobs.first, !first.isOrdered else {
            defer { if !jobs.isEmpty { jobs.removeFirst() } }
            return Array(jobs.prefix(1))
        }
        var taken: [CommitJob] = []
        var left: [CommitJob] = []
        var touched: Set<RowKey> = []
        for job in jobs {
            if taken.count < largestBatch, !job.isOrdered,
                job.keys.allSatisfy({ !touched.contains($0) })
            {
                taken.append(job)
                touched.formUnion(job.keys)
            } else {
                left.append(job)
            }
        }
        jobs = left
        return taken
    }

    /// The most members of one transaction: one that grows for ever would keep its first member waiting,
    /// and everybody behind the counter of positions.
    private static let largestBatch = 64
}

/// A row, or a value that no two rows may have.
enum RowKey: Hashable, Sendable {
    case credential([UInt8])
    case fingerprint([UInt8])
    case ticket([UInt8])
    case tickets(of: [UInt8])
    case answer([UInt8])
    case client([UInt8])
    case clientDigest([UInt8])
}

extension StoreChange {
    fileprivate var rowKeys: [RowKey] {
        switch self {
        case .insertCredential(let row), .updateCredential(let row):
            [.credential(row.id.bytes)] + (row.fingerprint.map { [.fingerprint($0)] } ?? [])
        case .insertTicket(let row): [.ticket(row.digest), .tickets(of: row.credential.bytes)]
        case .spendTicket(let digest): [.ticket(digest)]
        case .dropTickets(let credential): [.tickets(of: credential.bytes)]
        case .insertAnswer(let row): [.answer(row.key)]
        case .insertClient(let row), .updateClient(let row):
            [.client(row.id), .clientDigest(row.digest)]
        // Of two decoys in one slot either may stay.
        case .writeDecoy, .appendEvent: []
        }
    }

    /// Whether its numbers fit their columns.
    var fits: Bool {
        switch self {
        case .insertCredential(let row), .updateCredential(let row): row.version < UInt64(Int64.max)
        case .insertClient(let row), .updateClient(let row): row.version < UInt64(Int64.max)
        default: true
        }
    }
}
