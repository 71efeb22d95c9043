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

// The arguments of statements that write rows.
extension StatementArguments {
    init<Row: ColumnRow>(rows: [BatchRow<Row>]) {
        self.init()
        addMembers(rows, \.member)
        for column in Row.columns { add(rows, as: column.type) { column.storedValue($0.row) } }
        add(rows) { $0.code }
    }

    /// The arguments of a statement that reads the rows' values from arrays by index.
    init<Row: ColumnRow>(placing rows: [BatchRow<Row>]) {
        self.init(rows: rows)
        addPlaces(rows.count)
    }

    init(spending digests: [BatchRow<[UInt8]>]) {
        self.init()
        addMembers(digests, \.member)
        add(digests) { $0.row }
    }

    init(keys: [[UInt8]]) {
        self.init()
        add(keys) { $0 }
    }

    /// The lock numbers of the subjects, sorted, so that processes cannot deadlock.
    init(locking limits: [BatchRow<SubjectLimit>]) {
        self.init()
        add(Set(limits.map(\.row.lockNumber)).sorted()) { Int64($0) }
    }

    init(limits: [BatchRow<SubjectLimit>]) {
        self.init()
        addMembers(limits, \.member)
        add(limits) { $0.row.subject }
        add(limits) { $0.row.limit }
    }

    init(dummies: [DummyRow]) {
        self.init()
        add(dummies) { $0.slot }
        add(dummies) { $0.body }
    }
}
