internal import SQLStore
internal import Verification
internal import WatchwordCryptography

/// The end of an event chain, and the position of the chain's last event.
struct ChainTail: Hashable {
    let head: ChainCheckpoint
    let position: UInt64
}

/// The end of the event chain while a transaction appends to it.
///
/// All processes append to one chain, because SQLite allows one writer at a time. Each transaction
/// reads the end again: another process may have written since.
struct ChainWriter {
    private let number: Int64
    private var chain: EventChain
    private var isChanged = false

    /// Starts at the stored end.
    ///
    /// - Parameter known: the end that this process last saw. A stored end that does not continue
    ///   the known end, or is not authentic, is refused: appending there would hide the loss of
    ///   events.
    init(in session: SQLiteSession, key: AuditKey, known: ChainTail?) throws(StoreFailure) {
        let stored = try session[.lastChain].first { row throws(StoreFailure) in
            let number = try row.requiredInteger()
            let node = try row.requiredBytes()
            let head = try row.mark(of: node)
            return (number: number, tail: ChainTail(head: head, position: try row.read()))
        }
        guard let (number, tail) = stored else { throw .chain }
        if tail != known {
            let isAuthentic = key.isAuthentic(tail.head)
            guard isAuthentic, try session.holds(tail) else { throw .chain }
            if let known, known.head.node == tail.head.node,
                known.head.sequence > tail.head.sequence
            {
                throw .chain
            }
        }
        self.number = number
        chain = EventChain(resuming: tail.head, at: tail.position, key: key)
    }

    /// Links an event to the end of the chain and inserts it.
    mutating func append(
        _ event: RecordedEvent, to session: SQLiteSession
    ) throws(StoreFailure) {
        var next = chain
        let tied = next.append(event, position: chain.position + 1)
        chain = next
        isChanged = true
        try session[.insertEvent].bind(tied.position).bind(number).bind(tied.sequence)
            .bind(tied.behind).bind(tied.time).bind(tied.body).bind(tied.digest).run()
    }

    /// Does the work of ``append(_:to:)``, but does not change the chain.
    mutating func appendNothing(
        insteadOf event: Event, to session: SQLiteSession
    ) throws(StoreFailure) {
        var unused = chain
        _ = unused.append(RecordedEvent(event), position: chain.position + 1)
        isChanged = true
        let row = DummyRow(event)
        try session[.writeDummies].bind(row.slot).bind(row.body).run()
    }

    /// Writes the new end, once for all events of the transaction, and returns it.
    func finish(in session: SQLiteSession) throws(StoreFailure) -> ChainTail? {
        guard isChanged else { return nil }
        let head = chain.head()
        try session[.updateHead].bind(number).bind(head.sequence).bind(head.digest)
            .bind(head.authentication).bind(chain.position).run()
        return ChainTail(head: head, position: chain.position)
    }
}

extension SQLiteSession {
    /// Whether a chain's last event is at the position in the chain's record; for a chain without
    /// events, whether this is the position of the chain's start.
    func holds(_ tail: ChainTail) throws(StoreFailure) -> Bool {
        guard let start = try chains().first(where: { $0.head.node == tail.head.node })?.start
        else {
            return false
        }
        guard tail.head.sequence > start.sequence else { return tail.position == start.position }
        return try event(at: tail.position)?.digest == tail.head.digest
    }

    func event(at position: UInt64) throws(StoreFailure) -> ChainedEvent? {
        guard position > 0 else { return nil }
        let next = try events(after: position - 1, limit: 1).first
        return next?.position == position ? next : nil
    }
}
