internal import SQLStore
internal import Verification
internal import WatchwordCryptography

// `@unchecked Sendable` is safe: GroupCommitter lends the writer to one thread at a time.
/// The only connection that writes.
final class DatabaseWriter: @unchecked Sendable {
    typealias Answer = Result<CommitOutcome, StoreFailure>

    let session: SQLiteSession
    let key: AuditKey
    /// The chain's end when it was last written or checked.
    private(set) var known: ChainTail?
    private let location: DatabaseLocation
    /// `nil` if the writer has exclusive use of the file and is about to leave WAL mode.
    private var log: WriteAheadLog?

    init(
        _ session: SQLiteSession, key: AuditKey, known: ChainTail, at location: DatabaseLocation,
        checkpointer: Checkpointer? = nil
    ) {
        self.session = session
        self.key = key
        self.known = known
        self.location = location
        log = checkpointer.map { WriteAheadLog($0) }
        if log != nil { session.connection.countLogPages() }
    }

    /// Closes the connection; the writer cannot be used afterwards.
    func close() {
        log?.close(session.connection)
        // If this fails, the stored checkpoint is still valid, although it is older.
        do { if let known { try location.keep(known.head, of: session) } } catch _ {}
    }

    /// Commits all members in one transaction; each member's changes take effect completely or not
    /// at all.
    ///
    /// A member whose condition does not hold, or that fails on its own, does not affect the
    /// others. Nothing counts as committed unless the transaction is durable.
    func commit(_ members: [[AuthenticatedChange]]) -> [Answer] {
        commit(members, guardingAll: false)
    }

    private func commit(
        _ members: [[AuthenticatedChange]], guardingAll: Bool
    ) -> [Answer] {
        guard !members.isEmpty else { return [] }
        func all(_ failure: StoreFailure) -> [Answer] {
            members.map { _ in .failure(failure) }
        }
        do { try perform(.begin) } catch { return all(error) }
        do throws(StoreFailure) {
            return try complete(members, guardingAll: guardingAll)
        } catch {
            guard members.count > 1 else { return all(error) }
            // A single large member may have filled the disk; smaller ones may still fit on their
            // own.
            if error.kind == .full { return members.flatMap { commit([$0]) } }
            // One member's failure may have rolled back the other members.
            return guardingAll ? all(error) : commit(members, guardingAll: true)
        }
    }

    /// Commits one member's changes; returns `nil` if another process is writing.
    func commitImmediately(_ changes: [AuthenticatedChange]) -> Answer? {
        do throws(StoreFailure) {
            guard try beginImmediately() else { return nil }
            return try complete([changes], guardingAll: false)[0]
        } catch {
            return .failure(error)
        }
    }

    private func beginImmediately() throws(StoreFailure) -> Bool {
        do throws(StoreFailure) {
            try session.connection.withoutWaiting { () throws(StoreFailure) in
                try perform(.begin)
            }
            return true
        } catch  where error.kind == .busy {
            return false
        }
    }

    /// Applies all members' changes within the open transaction, and ends it.
    ///
    /// - Parameter guardingAll: whether each member gets a savepoint even if a failed condition
    ///   would leave nothing to undo.
    private func complete(
        _ members: [[AuthenticatedChange]], guardingAll: Bool
    ) throws(StoreFailure) -> [Answer] {
        defer { rollBack() }
        try session.connection.expectInPlace()
        var chain = try ChainWriter(in: session, key: key, known: known)
        var answers: [Answer] = []
        for changes in members {
            // If only the first change has a condition, there is nothing to undo when it does not
            // hold. This is true of most decisions, and a savepoint costs two more statements.
            let isGuarded =
                members.count > 1
                && (guardingAll || changes.dropFirst().contains(where: \.change.hasCondition))
            answers.append(try member(changes, &chain, isGuarded: isGuarded))
        }
        guard answers.contains(.success(.done)) else { return answers }
        let head = try chain.finish(in: session)
        try endTransaction()
        if let head { known = head }
        return answers
    }

    /// - Throws: the failure that ended the transaction for all members.
    private func member(
        _ changes: [AuthenticatedChange], _ chain: inout ChainWriter, isGuarded: Bool
    ) throws(StoreFailure) -> Answer {
        let before = chain
        if isGuarded { try perform(.savepoint) }
        let answer: Answer
        do throws(StoreFailure) {
            answer = .success(try apply(changes, &chain) ? .done : .conflict)
        } catch {
            // Some failures roll back the whole transaction.
            guard session.connection.isInTransaction, isGuarded else { throw error }
            answer = .failure(error)
        }
        if answer != .success(.done) {
            chain = before
            if isGuarded { try perform(.rollbackTo) }
        }
        if isGuarded { try perform(.release) }
        return answer
    }

    private func apply(_ changes: [AuthenticatedChange], _ chain: inout ChainWriter)
        throws(StoreFailure) -> Bool
    {
        for change in changes {
            guard try session.apply(change, &chain) else { return false }
        }
        return true
    }

    /// Runs `body` in its own transaction.
    func transaction<Done>(_ body: () throws(StoreFailure) -> Done) throws(StoreFailure) -> Done {
        try perform(.begin)
        defer { rollBack() }
        let done = try body()
        try endTransaction()
        return done
    }

    private func endTransaction() throws(StoreFailure) {
        try perform(.commit)
        log?.tend(session.connection)
    }

    private func perform(_ statement: StoreStatement) throws(StoreFailure) {
        try session[statement].run()
    }

    /// Rolls back the transaction; does nothing if it was committed, or if SQLite has already
    /// rolled it back.
    private func rollBack() {
        guard session.connection.isInTransaction else { return }
        // A rollback only releases memory. If it fails, the next BEGIN fails and reports the error.
        do { try session[.rollback].run() } catch _ {}
    }
}

extension DatabaseWriter {
    /// Deletes expired rows and old events within the open transaction.
    func prune(_ pruning: Pruning) throws(StoreFailure) -> PruningOutcome {
        let (now, limit) = (pruning.now, pruning.limit)
        _ = try prune(.endLapsedAnswers, at: now, limit)
        let credentials = try prune(.pruneCredentials, at: now, limit)
        let tickets = try prune(.pruneTickets, at: now, limit)
        let challenges = try prune(.pruneChallenges, at: pruning.challengesAt, limit)
        let answers = try prune(.pruneAnswers, at: now, limit)
        let old = try oldEvents(pruning)
        if let end = old.end { try session[.pruneEvents].bind(end).run() }
        for start in old.starts { try session[.updateStart].bind(start.arguments).run() }
        var outcome = PruningOutcome()
        outcome.credentials = credentials
        outcome.tickets = tickets
        outcome.challenges = challenges
        outcome.answers = answers
        outcome.events = old.count
        outcome.areEventsAltered = old.areAltered
        return outcome
    }

    private func prune(
        _ statement: StoreStatement, at time: UnixTime?, _ limit: Int
    ) throws(StoreFailure) -> Int {
        try session[statement].bind(time).bind(limit).run()
    }

    /// The events to delete: from the oldest up to, but not including, the first event that is
    /// recent enough to keep.
    private func oldEvents(_ pruning: Pruning) throws(StoreFailure) -> ExpiredEvents {
        let limit = pruning.eventsBefore == nil ? 0 : pruning.limit
        let first = try session.events(after: 0, limit: limit)
        let chains = try session.chains()
        return ExpiredEvents(first, chains: chains, pruning: pruning, key: key)
    }
}

extension SQLiteSession {
    /// Applies one change if its condition holds.
    ///
    /// - Returns: whether the change was applied.
    func apply(
        _ authenticated: AuthenticatedChange, _ chain: inout ChainWriter
    ) throws(StoreFailure) -> Bool {
        let code = authenticated.code
        switch authenticated.change {
        case .requireCapacity(let subject, let limit):
            let hasCapacity: Int64? = try self[.requireCapacity].bind(subject).bind(limit).first()
            return hasCapacity == 1
        case .insertCredential(let row):
            return try self[.insertCredentials].bind(row, code: code).changesOneRow()
        case .updateCredential(let row):
            if try self[.updateBody].bind(row, code: code).run() == 1 { return true }
            return try self[.updateCredentials].bind(row, code: code).changesOneRow()
        case .insertTicket(let row):
            return try self[.insertTickets].bind(row, code: code).changesOneRow()
        case .spendTicket(let digest):
            return try self[.spendTickets].bind(digest).run() == 1
        case .dropTickets(let credential):
            try self[.dropTickets].bind(credential).run()
            return true
        case .insertChallenge(let row):
            return try self[.insertChallenges].bind(row, code: code).changesOneRow()
        case .spendChallenge(let digest):
            return try self[.spendChallenges].bind(digest).run() == 1
        case .dropChallenge(let digest):
            try self[.spendChallenges].bind(digest).run()
            return true
        case .insertAnswer(let row):
            return try self[.insertAnswers].bind(row, code: code).changesOneRow()
        case .endAnswers(let credential):
            try self[.endAnswers].bind(credential).run()
            return true
        case .insertClient(let row):
            return try self[.insertClients].bind(row, code: code).changesOneRow()
        case .updateClient(let row):
            return try self[.updateClients].bind(row, code: code).changesOneRow()
        case .writeDummy(let row):
            try self[.updateBody].bind(row.sought, code: code).run()
            try self[.writeDummies].bind(row.slot).bind(row.body).run()
            return true
        case .appendEvent:
            if let event = authenticated.event { try chain.append(event, to: self) }
            return true
        case .writeDummyEvent(let event):
            try chain.appendNothing(insteadOf: event, to: self)
            return true
        case .writeDummyAnswer(let row):
            guard try self[.insertAnswers].bind(row, code: code).changesOneRow() else {
                return false
            }
            return try self[.deleteAnswer].bind(row.key).run() == 1
        }
    }
}
