internal import Verification

/// A row, with the number of the batch member that it belongs to.
struct BatchRow<Row: Sendable>: Sendable {
    let member: Int
    let row: Row
    /// The row's authentication code; empty if only a key is needed.
    var code: [UInt8] = []
}

/// The limit on a subject's rows, which must not have been reached when the commit runs.
struct SubjectLimit: Sendable {
    let subject: Subject
    let limit: Int

    /// A number that is the same in every process.
    ///
    /// If two subjects have the same number, their commits wait for each other; nothing else
    /// changes.
    var lockNumber: Int32 {
        let sum = subject.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return Int32(bitPattern: sum)
    }
}

// Encodes rows into their columns, in the order of the statements.
extension StatementArguments {
    init(_ rows: [BatchRow<CredentialRow>]) {
        add(rows, member: \.member)
        add(rows) { $0.row.id.bytes }
        add(rows) { $0.row.subject.utf8 }
        add(rows, text: \.row.kind.rawValue)
        add(rows, text: \.row.state.rawValue)
        add(rows, integer: { Int64($0.row.version) })
        add(rows, integer: { $0.row.keyID.map { Int64($0.number) } })
        add(rows) { $0.row.fingerprint }
        add(rows, integer: \.row.createdAt.milliseconds)
        add(rows, integer: \.row.lapsesAt?.milliseconds)
        add(rows) { $0.row.body }
        add(rows) { $0.code }
    }

    /// The arguments of a statement that reads the rows' values from arrays by index.
    init(placing rows: [BatchRow<CredentialRow>]) {
        self.init(rows)
        addPlaces(rows.count)
    }

    init(placing rows: [BatchRow<ClientRow>]) {
        self.init(rows)
        addPlaces(rows.count)
    }

    init(_ rows: [BatchRow<TicketRow>]) {
        add(rows, member: \.member)
        add(rows) { $0.row.digest }
        add(rows, text: \.row.purpose.rawValue)
        add(rows) { $0.row.credential.bytes }
        add(rows) { $0.row.subject.utf8 }
        add(rows) { $0.row.verification.bytes }
        add(rows, integer: \.row.createdAt.milliseconds)
        add(rows, integer: \.row.expiresAt.milliseconds)
        add(rows) { $0.code }
    }

    init(_ rows: [BatchRow<ChallengeRow>]) {
        add(rows, member: \.member)
        add(rows) { $0.row.digest }
        add(rows, text: \.row.purpose.rawValue)
        add(rows) { $0.row.subject?.utf8 }
        add(rows) { $0.row.credential?.bytes }
        add(rows) { $0.row.body }
        add(rows, integer: \.row.createdAt.milliseconds)
        add(rows, integer: \.row.expiresAt.milliseconds)
        add(rows) { $0.code }
    }

    init(_ rows: [BatchRow<AnswerRow>]) {
        add(rows, member: \.member)
        add(rows) { $0.row.key }
        add(rows) { $0.row.request }
        add(rows) { $0.row.credential?.bytes }
        add(rows, integer: { $0.row.sealed.map { Int64($0.keyID.number) } })
        add(rows) { $0.row.sealed?.bytes }
        add(rows, integer: \.row.expiresAt.milliseconds)
        add(rows) { $0.code }
    }

    init(_ rows: [BatchRow<ClientRow>]) {
        add(rows, member: \.member)
        add(rows) { $0.row.id }
        add(rows, integer: { Int64($0.row.version) })
        add(rows) { $0.row.digest }
        add(rows) { Array($0.row.name.utf8) }
        add(rows) { TextList.bytes($0.row.scopes) }
        add(rows, integer: \.row.createdAt.milliseconds)
        add(rows, integer: \.row.revokedAt?.milliseconds)
        add(rows) { $0.code }
    }

    init(spending digests: [BatchRow<[UInt8]>]) {
        add(digests, member: \.member)
        add(digests) { $0.row }
    }

    init(_ ids: [[UInt8]]) { add(ids) { $0 } }

    /// The lock numbers of the subjects, sorted, so that processes cannot deadlock.
    init(locking limits: [BatchRow<SubjectLimit>]) {
        add(Set(limits.map(\.row.lockNumber)).sorted(), integer: { Int64($0) })
    }

    init(_ limits: [BatchRow<SubjectLimit>]) {
        add(limits, member: \.member)
        add(limits) { $0.row.subject.utf8 }
        add(limits, integer: { Int64($0.row.limit) })
    }

    init(_ dummies: [DummyRow]) {
        add(dummies, integer: { Int64($0.slot) })
        add(dummies) { $0.body }
    }
}
