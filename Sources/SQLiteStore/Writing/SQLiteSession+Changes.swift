internal import Verification

extension SQLiteSession {
    /// Does one change, unless its condition does not hold.
    ///
    /// - Returns: whether it did.
    func apply(_ change: StoreChange, _ chain: inout ChainWriter) throws(MemberFailure) -> Bool {
        do throws(SQLiteFailure) {
            switch change {
            case .insertCredential(let row):
                return try inserts(self[.insertCredential].bind(row))
            case .updateCredential(let row):
                if try self[.updateBody].bind(row).run() == 1 { return true }
                return try changesOne(self[.updateCredential].bind(row))
            case .insertTicket(let row):
                return try inserts(self[.insertTicket].bind(row))
            case .spendTicket(let digest):
                return try self[.spendTicket].bind(digest).run() == 1
            case .dropTickets(let credential):
                try self[.dropTickets].bind(credential.bytes).run()
                return true
            case .insertAnswer(let row):
                return try inserts(self[.insertAnswer].bind(row))
            case .insertClient(let row):
                return try inserts(self[.insertClient].bind(row))
            case .updateClient(let row):
                return try changesOne(self[.updateClient].bind(row))
            case .writeDecoy(let row):
                try self[.updateBody].bind(row.sought).run()
                try self[.writeDecoy].bind(Int64(row.slot)).bind(row.body).run()
                return true
            case .appendEvent: break
            }
        } catch {
            throw .database(error)
        }
        if case .appendEvent(let event) = change { try chain.append(event, to: self) }
        return true
    }

    // What is unique and there already is the condition that did not hold.
    private func inserts(_ statement: SQLiteStatement) throws(SQLiteFailure) -> Bool {
        do throws(SQLiteFailure) {
            try statement.run()
            return true
        } catch  where error.isUniqueness {
            return false
        }
    }

    // An update can meet a fingerprint or digest of another row.
    private func changesOne(_ statement: SQLiteStatement) throws(SQLiteFailure) -> Bool {
        do throws(SQLiteFailure) {
            return try statement.run() == 1
        } catch  where error.isUniqueness {
            return false
        }
    }
}
