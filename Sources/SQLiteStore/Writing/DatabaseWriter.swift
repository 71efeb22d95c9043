internal import Cryptography
internal import Verification

// Sendable by hand: GroupCommitter lends it to one thread at a time.
/// The one connection that writes.
final class DatabaseWriter: @unchecked Sendable {
    typealias Answer = Result<CommitOutcome, StoreFailure>

    let session: SQLiteSession
    let key: AuditKey
    /// The chain's end, as it was written or checked last.
    private(set) var known: ChainTail?
    private let location: DatabaseLocation
    /// Nothing for one that has the file to itself, and is about to leave the log.
    private var log: WriteAheadLog?
    /// How long to wait for another process's lock.
    private let timeout: Duration

    init(
        _ session: SQLiteSession, key: AuditKey, known: ChainTail, at location: DatabaseLocation,
        checkpointer: Checkpointer? = nil, timeout: Duration = .zero
    ) {
        self.session = session
        self.key = key
        self.known = known
        self.location = location
        log = checkpointer.map { WriteAheadLog($0) }
        if log != nil { session.connection.countLog() }
        self.timeout = timeout
    }

    /// The last thing that happens on the thread.
    func close() {
        log?.close(session.connection)
        // The mark that was kept before is as true, only older.
        do { if let known { try location.keep(known.head) } } catch _ {}
    }

    /// Does each member's changes or none of them, all in one transaction.
    ///
    /// A member whose condition does not hold, or that fails by itself, leaves the others as they
    /// are. None is done unless the transaction is durable.
    func commit(_ members: [[AuthenticatedChange]]) -> [Answer] {
        commit(members, guardingAll: false)
    }

    private func commit(
        _ members: [[AuthenticatedChange]], guardingAll: Bool
    ) -> [Answer] {
        guard !members.isEmpty else { return [] }
        func all(_ failure: MemberFailure) -> [Answer] {
            members.map { _ in .failure(failure.storeFailure) }
        }
        do { try perform(.begin) } catch { return all(error) }
        do throws(MemberFailure) {
            return try complete(members, guardingAll: guardingAll)
        } catch {
            guard members.count > 1 else { return all(error) }
            // What fills the disk may be one of them; alone, the smaller ones still fit.
            if error.storeFailure.trouble == .full { return members.flatMap { commit([$0]) } }
            // One of them may have failed by itself, and taken the others with it.
            return guardingAll ? all(error) : commit(members, guardingAll: true)
        }
    }

    /// Commits one member's changes; nothing when another process writes just now.
    func commitAtOnce(_ changes: [AuthenticatedChange]) -> Answer? {
        do throws(MemberFailure) {
            guard try beginAtOnce() else { return nil }
            return try complete([changes], guardingAll: false)[0]
        } catch {
            return .failure(error.storeFailure)
        }
    }

    private func beginAtOnce() throws(MemberFailure) -> Bool {
        session.connection.setLockTimeout(.zero)
        defer { session.connection.setLockTimeout(timeout) }
        do throws(MemberFailure) {
            try perform(.begin)
            return true
        } catch .database(let failure) where failure.isBusy {
            return false
        }
    }

    /// Does what belongs into the transaction that was begun, and ends it.
    ///
    /// - Parameter guardingAll: whether also those get a savepoint that leave nothing behind when their
    ///   condition does not hold.
    private func complete(
        _ members: [[AuthenticatedChange]], guardingAll: Bool
    ) throws(MemberFailure) -> [Answer] {
        do throws(MemberFailure) {
            try database { () throws(SQLiteFailure) in try session.connection.expectInPlace() }
            var chain = try ChainWriter(in: session, key: key, known: known)
            var answers: [Answer] = []
            for changes in members {
                // Where the first change has the only condition, nothing is done when it does not hold:
                // so are most decisions, and a savepoint is two statements more.
                let isGuarded =
                    members.count > 1
                    && (guardingAll || changes.dropFirst().contains(where: \.change.hasCondition))
                answers.append(try member(changes, &chain, isGuarded: isGuarded))
            }
            guard answers.contains(.success(.done)) else {
                rollBack()
                return answers
            }
            let head = try chain.finish(in: session)
            try endTransaction()
            if let head { known = head }
            return answers
        } catch {
            rollBack()
            throw error
        }
    }

    /// - Throws: what ended the transaction for all.
    private func member(
        _ changes: [AuthenticatedChange], _ chain: inout ChainWriter, isGuarded: Bool
    ) throws(MemberFailure) -> Answer {
        let before = chain
        if isGuarded { try perform(.savepoint) }
        let answer: Answer
        do throws(MemberFailure) {
            answer = .success(try apply(changes, &chain) ? .done : .conflict)
        } catch {
            // Some failures take the whole transaction with them.
            guard session.connection.isInTransaction, isGuarded else { throw error }
            answer = .failure(error.storeFailure)
        }
        if answer != .success(.done) {
            chain = before
            if isGuarded { try perform(.rollbackTo) }
        }
        if isGuarded { try perform(.release) }
        return answer
    }

    private func apply(_ changes: [AuthenticatedChange], _ chain: inout ChainWriter)
        throws(MemberFailure) -> Bool
    {
        for change in changes {
            guard try session.apply(change, &chain) else { return false }
        }
        return true
    }

    /// Runs `body` in a transaction of its own.
    func transaction<Done>(_ body: () throws(MemberFailure) -> Done) throws(MemberFailure) -> Done {
        try perform(.begin)
        do throws(MemberFailure) {
            let done = try body()
            try endTransaction()
            return done
        } catch {
            rollBack()
            throw error
        }
    }

    private func endTransaction() throws(MemberFailure) {
        try perform(.commit)
        log?.tend(session.connection)
    }

    private func perform(_ statement: StoreStatement) throws(MemberFailure) {
        do { try session[statement].run() } catch { throw .database(error) }
    }

    /// Ends a transaction without a trace; when SQLite has done so already, there is nothing to do.
    private func rollBack() {
        guard session.connection.isInTransaction else { return }
        // A rollback gives up memory only; should it fail, the next BEGIN does, and says so.
        do { try session[.rollback].run() } catch _ {}
    }
}
