internal import POSIX
public import Verification

// The mark beside the database: where the chain of events ended at some moment. A database that does
// not reach it was put back to an earlier state.
extension DatabaseLocation {
    /// What is kept; nothing when nothing is.
    func keptMark(in folder: borrowing Folder) throws(SQLiteStoreError) -> ChainMark? {
        let bytes: [UInt8]
        do throws(PrivateFileError) {
            bytes = try folder.readPrivateFile(markName, limit: 1_024)
        } catch .missing {
            return nil
        } catch {
            throw .notPrivate(error)
        }
        guard let text = String(validating: bytes, as: UTF8.self), text.last == "\n",
            let mark = ChainMark(text: String(text.dropLast()))
        else { throw .damagedMark }
        return mark
    }

    /// Keeps a mark, unless a later one is kept.
    func keep(_ mark: ChainMark) throws(SQLiteStoreError) {
        let folder = try openFolder(making: false)
        try locked(in: folder, timeout: .seconds(1)) { () throws(SQLiteStoreError) in
            try keep(mark, in: folder)
        }
    }

    /// The same for who holds the lock.
    func keep(_ mark: ChainMark, in folder: borrowing Folder) throws(SQLiteStoreError) {
        if let kept = try keptMark(in: folder), kept.node == mark.node,
            kept.sequence >= mark.sequence
        {
            return
        }
        let text = Array("\(mark.text)\n".utf8)
        let file = FileReplacement(of: markName, beginningWith: Array(ChainMark.textPrefix.utf8))
        do throws(FileReplacementError) {
            try file.replace(with: text.span, in: folder, previous: .none)
        } catch {
            switch error {
            case .system(let failure), .notConfirmed(let failure): throw .system(failure)
            case .inTheWay, .changed: throw .exists
            }
        }
    }
}

extension SQLiteSession {
    /// The chain's end, when it is authentic, whole and not before the kept mark.
    ///
    /// It is read in one transaction: others may write meanwhile.
    func checkedTail(key: AuditKey, against kept: ChainMark?) throws(SQLiteStoreError) -> ChainTail
    {
        try storing { () throws(SQLiteFailure) in try connection.execute("BEGIN") }
        // Nothing was written; should it fail, the next BEGIN does, and says so.
        defer { do throws(SQLiteFailure) { try connection.execute("ROLLBACK") } catch _ {} }
        return try tail(key: key, against: kept)
    }

    private func tail(
        key: AuditKey, against kept: ChainMark?
    ) throws(SQLiteStoreError) -> ChainTail {
        let chains = try storing { () throws(SQLiteFailure) in try self.chains() }
        guard let last = chains.last, try isAuthentic(last.head, key) else {
            throw .store(MemberFailure.chain.storeFailure)
        }
        let tail = ChainTail(head: last.head, position: last.headPosition)
        if let kept {
            guard try isAuthentic(kept, key) else { throw .damagedMark }
            guard let chain = chains.first(where: { $0.head.node == kept.node }),
                try holds(kept, of: chain)
            else { throw .putBack }
        }
        guard try storing({ () throws(SQLiteFailure) in try holds(tail) }) else {
            throw .store(MemberFailure.chain.storeFailure)
        }
        return tail
    }

    /// Whether the event that a mark names is the one that is stored, if it is still kept.
    private func holds(
        _ mark: ChainMark, of chain: ChainRecord
    ) throws(SQLiteStoreError) -> Bool {
        guard mark.sequence <= chain.head.sequence else { return false }
        if mark.sequence == chain.head.sequence { return mark.digest == chain.head.digest }
        guard mark.sequence > chain.start.sequence else { return true }
        // A chain's events have positions without a gap.
        let (place, isBefore) = chain.headPosition.subtractingReportingOverflow(
            chain.head.sequence - mark.sequence)
        guard !isBefore else { throw .store(MemberFailure.chain.storeFailure) }
        let stored = try storing { () throws(SQLiteFailure) in try event(at: place) }
        return stored?.digest == mark.digest
    }

    private func storing<Result>(
        _ body: () throws(SQLiteFailure) -> Result
    ) throws(SQLiteStoreError) -> Result {
        do throws(SQLiteFailure) { return try body() } catch { throw SQLiteStoreError(error) }
    }

    private func isAuthentic(_ mark: ChainMark, _ key: AuditKey) throws(SQLiteStoreError) -> Bool {
        do { return try key.isAuthentic(mark) } catch {
            throw SQLiteStoreError(MemberFailure.cryptography)
        }
    }

    /// Refuses a copy that was made to be kept and not to be served.
    func expectNoBackup() throws(SQLiteStoreError) {
        let isBackup: Bool
        do { isBackup = try has(.backedUpAt) } catch { throw SQLiteStoreError(error) }
        if isBackup { throw .isBackup }
    }
}

extension SQLiteStore {
    /// Writes down where the chain of events ends now, beside the database.
    ///
    /// A database that is put back to a state before that is not opened. It is done when the store is
    /// opened and closed; a service that runs for long does it now and then. Keeping the mark's text
    /// on another machine finds more: see ``audit(checkpoints:)``.
    @discardableResult public func keepMark() throws(SQLiteStoreError) -> ChainMark {
        let head: ChainMark?
        do { head = try chains().last?.head } catch { throw .store(error) }
        guard let head else { throw .store(StoreFailure(.damaged, code: "chain")) }
        try location.keep(head)
        return head
    }
}
