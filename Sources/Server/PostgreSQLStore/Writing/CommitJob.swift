internal import Verification

/// A commit waiting for a connection.
struct CommitJob: Sendable {
    let changes: [AuthenticatedChange]
    /// The rows that the commit touches.
    let keys: [RowKey]
    /// Whether a row is touched more than once, so that the changes must be applied one after the
    /// other.
    let isOrdered: Bool
    /// Receives the answer on the connection's thread.
    let finish: @Sendable (Result<CommitOutcome, StoreFailure>) -> Void

    init(
        _ changes: [AuthenticatedChange],
        finish: @escaping @Sendable (Result<CommitOutcome, StoreFailure>) -> Void
    ) {
        self.changes = changes
        self.finish = finish
        var keys: [RowKey] = []
        for change in changes { keys += change.change.rowKeys }
        self.keys = keys
        // Most changes touch one row, under its id and its fingerprint.
        isOrdered =
            keys.count > 2 ? Set(keys).count < keys.count : keys.count == 2 && keys[0] == keys[1]
    }

    /// Removes from the front of `jobs` the jobs that can share a transaction: members without
    /// common rows.
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

    /// The largest number of members of one transaction.
    ///
    /// Without a limit, a growing transaction would delay its first member and every process that
    /// waits for the position counter.
    private static let largestBatch = 64
}

/// A row, or a value that must be unique among rows.
enum RowKey: Hashable, Sendable {
    case room([UInt8])
    case credential([UInt8])
    case fingerprint([UInt8])
    case ticket([UInt8])
    case tickets(of: [UInt8])
    case challenge([UInt8])
    case answer([UInt8])
    case answers(of: [UInt8])
    case client([UInt8])
    case clientDigest([UInt8])
    case clientName([UInt8])

    /// Hashes only the first bytes: most keys are random or digests.
    func hash(into hasher: inout Hasher) {
        let (kind, bytes) =
            switch self {
            case .credential(let bytes): (0, bytes)
            case .fingerprint(let bytes): (1, bytes)
            case .ticket(let bytes): (2, bytes)
            case .tickets(let bytes): (3, bytes)
            case .answer(let bytes): (4, bytes)
            case .client(let bytes): (5, bytes)
            case .clientDigest(let bytes): (6, bytes)
            case .answers(let bytes): (7, bytes)
            case .clientName(let bytes): (8, bytes)
            case .room(let bytes): (9, bytes)
            case .challenge(let bytes): (10, bytes)
            }
        hasher.combine(kind)
        hasher.combine(bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }
}

extension StoreChange {
    fileprivate var rowKeys: [RowKey] {
        switch self {
        case .requireCapacity(let subject, _): [.room(subject.utf8)]
        case .insertCredential(let row), .updateCredential(let row):
            [.credential(row.id.bytes)] + (row.fingerprint.map { [.fingerprint($0)] } ?? [])
        case .insertTicket(let row): [.ticket(row.digest), .tickets(of: row.credential.bytes)]
        case .spendTicket(let digest): [.ticket(digest)]
        case .dropTickets(let credential): [.tickets(of: credential.bytes)]
        case .insertChallenge(let row): [.challenge(row.digest)]
        case .spendChallenge(let digest), .dropChallenge(let digest): [.challenge(digest)]
        case .insertAnswer(let row):
            [.answer(row.key)] + (row.credential.map { [.answers(of: $0.bytes)] } ?? [])
        case .endAnswers(let credential): [.answers(of: credential.bytes)]
        case .writeDummyAnswer(let row): [.answer(row.key)]
        case .insertClient(let row), .updateClient(let row):
            [.client(row.id), .clientDigest(row.digest), .clientName(Array(row.name.utf8))]
        // If two dummy writes go to one slot, either may win.
        case .writeDummy, .appendEvent, .writeDummyEvent: []
        }
    }

    /// Whether the change's numbers fit their columns.
    var fits: Bool {
        switch self {
        case .insertCredential(let row), .updateCredential(let row): row.version < UInt64(Int64.max)
        case .insertClient(let row), .updateClient(let row): row.version < UInt64(Int64.max)
        default: true
        }
    }
}
