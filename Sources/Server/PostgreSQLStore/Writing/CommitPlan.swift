internal import SQLStore
internal import Verification

/// The statements that apply a batch's changes.
struct CommitPlan {
    private(set) var commands: [PipelineCommand] = []
    /// The events, in the order of the members.
    private(set) var events: [RecordedEvent] = []
    /// The events that cost the same work, but are not appended.
    private(set) var dummyEvents: [Event] = []

    private var limits: [BatchRow<SubjectLimit>] = []
    private var updated: [BatchRow<CredentialRow>] = []
    private var inserted: [BatchRow<CredentialRow>] = []
    private var spent: [BatchRow<[UInt8]>] = []
    private var dropped: [[UInt8]] = []
    private var ended: [[UInt8]] = []
    private var tickets: [BatchRow<TicketRow>] = []
    private var challenges: [BatchRow<ChallengeRow>] = []
    private var spentChallenges: [BatchRow<[UInt8]>] = []
    private var droppedChallenges: [[UInt8]] = []
    private var answers: [BatchRow<AnswerRow>] = []
    private var newClients: [BatchRow<ClientRow>] = []
    private var clients: [BatchRow<ClientRow>] = []
    private var dummies: [BatchRow<DummyRow>] = []
    private var answerDummies: [BatchRow<[UInt8]>] = []
    /// The dummy rows for events and responses.
    private var otherDummies: [Int: DummyRow] = [:]

    /// Builds one statement for each kind of change, for all members together.
    ///
    /// - Parameter members: the jobs with their member numbers; a job that touches a row more than
    ///   once is the only member.
    init(_ members: [(number: Int, job: CommitJob)]) {
        for (number, job) in members {
            for change in job.changes {
                add(change, of: number)
                if job.isOrdered { close() }
            }
        }
        close()
    }

    private mutating func add(_ authenticated: AuthenticatedChange, of member: Int) {
        let code = authenticated.code
        switch authenticated.change {
        case .requireCapacity(let subject, let limit):
            limits.append(
                BatchRow(member: member, row: SubjectLimit(subject: subject, limit: limit)))
        case .insertCredential(let row):
            inserted.append(BatchRow(member: member, row: row, code: code))
        case .updateCredential(let row):
            updated.append(BatchRow(member: member, row: row, code: code))
        case .insertTicket(let row): tickets.append(BatchRow(member: member, row: row, code: code))
        case .spendTicket(let digest): spent.append(BatchRow(member: member, row: digest))
        case .dropTickets(let credential): dropped.append(credential.bytes)
        case .insertChallenge(let row):
            challenges.append(BatchRow(member: member, row: row, code: code))
        case .spendChallenge(let digest):
            spentChallenges.append(BatchRow(member: member, row: digest))
        case .dropChallenge(let digest): droppedChallenges.append(digest)
        case .insertAnswer(let row): answers.append(BatchRow(member: member, row: row, code: code))
        case .endAnswers(let credential): ended.append(credential.bytes)
        case .insertClient(let row):
            newClients.append(BatchRow(member: member, row: row, code: code))
        case .updateClient(let row): clients.append(BatchRow(member: member, row: row, code: code))
        case .writeDummy(let row):
            dummies.removeAll { $0.row.slot == row.slot }
            dummies.append(BatchRow(member: member, row: row, code: code))
        case .appendEvent: if let event = authenticated.event { events.append(event) }
        case .writeDummyEvent(let event):
            dummyEvents.append(event)
            let row = DummyRow(event)
            otherDummies[row.slot] = row
        case .writeDummyAnswer(let answer):
            answerDummies.append(BatchRow(member: member, row: answer.key))
            let row = DummyRow(answer)
            otherDummies[row.slot] = row
        }
    }

    /// Turns the collected changes into statements.
    ///
    /// The order of the statements, and of the rows in each, is the same in every process, so that
    /// processes cannot deadlock.
    private mutating func close() {
        run(.lockSubjects, limits) { StatementArguments(locking: $0) }
        run(.updateCredentials, sorted(&updated, \.row.id.bytes)) {
            StatementArguments(placing: $0)
        }
        run(.spendTickets, sorted(&spent, \.row)) { StatementArguments(spending: $0) }
        run(.spendChallenges, sorted(&spentChallenges, \.row)) { StatementArguments(spending: $0) }
        run(.dropChallenges, sorted(&droppedChallenges, \.self)) { StatementArguments(keys: $0) }
        run(.dropTickets, sorted(&dropped, \.self)) { StatementArguments(keys: $0) }
        run(.endAnswers, sorted(&ended, \.self)) { StatementArguments(keys: $0) }
        run(.updateClients, sorted(&clients, \.row.id)) { StatementArguments(placing: $0) }
        run(.requireCapacity, limits) { StatementArguments(limits: $0) }
        limits = []
        run(.insertCredentials, sorted(&inserted, \.row.id.bytes)) { StatementArguments(rows: $0) }
        run(.insertTickets, sorted(&tickets, \.row.digest)) { StatementArguments(rows: $0) }
        run(.insertChallenges, sorted(&challenges, \.row.digest)) { StatementArguments(rows: $0) }
        run(.insertAnswers, sorted(&answers, \.row.key)) { StatementArguments(rows: $0) }
        run(.seekAnswers, sorted(&answerDummies, \.row)) { StatementArguments(spending: $0) }
        run(.insertClients, sorted(&newClients, \.row.id)) { StatementArguments(rows: $0) }
        let sought = dummies.map { BatchRow(member: 0, row: $0.row.sought, code: $0.code) }
        run(.seekCredentials, sought) { StatementArguments(placing: $0) }
        let written = (dummies.map(\.row) + otherDummies.values).sorted { $0.slot < $1.slot }
        run(.writeDummies, written) { StatementArguments(dummies: $0) }
        dummies = []
        otherDummies = [:]
    }

    private mutating func run<Row>(
        _ statement: StoreStatement, _ rows: [Row], _ arguments: ([Row]) -> StatementArguments
    ) {
        if !rows.isEmpty { commands.append(.run(statement, arguments(rows))) }
    }

    private func sorted<Row>(_ rows: inout [Row], _ key: (Row) -> [UInt8]) -> [Row] {
        defer { rows = [] }
        guard rows.count > 1 else { return rows }
        return rows.sorted { key($0).lexicographicallyPrecedes(key($1)) }
    }
}

/// A row, with the number of the batch member that it belongs to.
struct BatchRow<Row: Sendable>: Sendable {
    let member: Int
    let row: Row
    /// The row's authentication code; empty if only a key is needed.
    var code: [UInt8] = []
}

/// The limit on a subject's rows, which must not be reached before the commit runs.
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
