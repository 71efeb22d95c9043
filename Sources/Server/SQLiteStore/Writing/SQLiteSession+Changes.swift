internal import SQLStore
internal import Verification

extension SQLiteSession {
    /// Applies one change if its condition holds.
    ///
    /// - Returns: whether the change was applied.
    func apply(
        _ authenticated: AuthenticatedChange, _ chain: inout ChainWriter
    ) throws(SQLiteFailure) -> Bool {
        let code = authenticated.code
        switch authenticated.change {
        case .requireCapacity(let subject, let limit):
            return try self[.requireCapacity].bind(subject).bind(limit)
                .first { row throws(SQLiteFailure) in try row.requiredInteger() } == 1
        case .insertCredential(let row):
            return try changesOneRow(self[.insertCredentials].bind(row, code: code))
        case .updateCredential(let row):
            if try self[.updateBody].bind(row, code: code).run() == 1 { return true }
            return try changesOneRow(self[.updateCredentials].bind(row, code: code))
        case .insertTicket(let row):
            return try changesOneRow(self[.insertTickets].bind(row, code: code))
        case .spendTicket(let digest):
            return try self[.spendTickets].bind(digest).run() == 1
        case .dropTickets(let credential):
            try self[.dropTickets].bind(credential).run()
            return true
        case .insertChallenge(let row):
            return try changesOneRow(self[.insertChallenges].bind(row, code: code))
        case .spendChallenge(let digest):
            return try self[.spendChallenges].bind(digest).run() == 1
        case .dropChallenge(let digest):
            try self[.spendChallenges].bind(digest).run()
            return true
        case .insertAnswer(let row):
            return try changesOneRow(self[.insertAnswers].bind(row, code: code))
        case .endAnswers(let credential):
            try self[.endAnswers].bind(credential).run()
            return true
        case .insertClient(let row):
            return try changesOneRow(self[.insertClients].bind(row, code: code))
        case .updateClient(let row):
            return try changesOneRow(self[.updateClients].bind(row, code: code))
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
            guard try changesOneRow(self[.insertAnswers].bind(row, code: code)) else {
                return false
            }
            return try self[.deleteAnswer].bind(row.key).run() == 1
        }
    }

    // A violated uniqueness constraint means that the change's condition does not hold: an update
    // can also collide with another row's fingerprint or digest.
    private func changesOneRow(_ statement: SQLiteStatement) throws(SQLiteFailure) -> Bool {
        do throws(SQLiteFailure) {
            return try statement.run() == 1
        } catch  where error.isUniqueness {
            return false
        }
    }
}
