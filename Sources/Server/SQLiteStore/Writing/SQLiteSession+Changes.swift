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
            return try self[.hasCapacity].bind(subject.utf8).bind(Int64(limit))
                .first { row throws(SQLiteFailure) in try row.requiredInteger() } == 1
        case .insertCredential(let row):
            return try inserts(self[.insertCredential].bind(row).bind(code))
        case .updateCredential(let row):
            if try self[.updateBody].bind(row).bind(code).run() == 1 { return true }
            return try changesOneRow(self[.updateCredential].bind(row).bind(code))
        case .insertTicket(let row):
            return try inserts(self[.insertTicket].bind(row).bind(code))
        case .spendTicket(let digest):
            return try self[.spendTicket].bind(digest).run() == 1
        case .dropTickets(let credential):
            try self[.dropTickets].bind(credential.bytes).run()
            return true
        case .insertChallenge(let row):
            return try inserts(self[.insertChallenge].bind(row).bind(code))
        case .spendChallenge(let digest):
            return try self[.spendChallenge].bind(digest).run() == 1
        case .dropChallenge(let digest):
            try self[.spendChallenge].bind(digest).run()
            return true
        case .insertAnswer(let row):
            return try inserts(self[.insertAnswer].bind(row).bind(code))
        case .endAnswers(let credential):
            try self[.endAnswers].bind(credential.bytes).run()
            return true
        case .insertClient(let row):
            return try inserts(self[.insertClient].bind(row).bind(code))
        case .updateClient(let row):
            return try changesOneRow(self[.updateClient].bind(row).bind(code))
        case .writeDummy(let row):
            try self[.updateBody].bind(row.sought).bind(code).run()
            try self[.writeDummy].bind(Int64(row.slot)).bind(row.body).run()
            return true
        case .appendEvent:
            if let event = authenticated.event { try chain.append(event, to: self) }
            return true
        case .writeDummyEvent(let event):
            try chain.appendNothing(insteadOf: event, to: self)
            return true
        case .writeDummyAnswer(let row):
            guard try inserts(self[.insertAnswer].bind(row).bind(code)) else { return false }
            return try self[.deleteAnswer].bind(row.key).run() == 1
        }
    }

    // A violated uniqueness constraint means that the change's condition does not hold.
    private func inserts(_ statement: SQLiteStatement) throws(SQLiteFailure) -> Bool {
        do throws(SQLiteFailure) {
            try statement.run()
            return true
        } catch  where error.isUniqueness {
            return false
        }
    }

    // An update can collide with another row's fingerprint or digest.
    private func changesOneRow(_ statement: SQLiteStatement) throws(SQLiteFailure) -> Bool {
        do throws(SQLiteFailure) {
            return try statement.run() == 1
        } catch  where error.isUniqueness {
            return false
        }
    }
}
