internal import Cryptography
internal import Verification

/// The end of the database's chain of events, while a transaction appends to it.
///
/// All who write the database append to one chain: SQLite lets one write at a time. The end is read
/// in each transaction, for another process may have written since.
struct ChainWriter {
    private let number: Int64
    private var position: UInt64
    private var chain: EventChain
    private var isChanged = false

    /// Begins at the stored end.
    ///
    /// - Parameter known: the end as this process saw it last. A stored end that is no continuation
    ///   of it, or not authentic, is not gone on from: that would cover up what somebody cut off.
    init(in session: SQLiteSession, key: AuditKey, known: ChainMark?) throws(MemberFailure) {
        let stored = try database { () throws(SQLiteFailure) in
            try session[.lastChain].first { row throws(SQLiteFailure) in
                let number = try row.requiredInteger()
                let position = try row.unsigned()
                return (
                    number: number, position: position, head: try row.mark(of: row.requiredBytes())
                )
            }
        }
        guard let stored else { throw .chain }
        if stored.head != known {
            let isAuthentic = try cryptography { () throws(CryptographyFailure) in
                try key.isAuthentic(stored.head)
            }
            guard isAuthentic else { throw .chain }
            if let known, known.node == stored.head.node, known.sequence > stored.head.sequence {
                throw .chain
            }
        }
        number = stored.number
        position = stored.position
        chain = EventChain(resuming: stored.head, key: key)
    }

    /// Ties an event to the end and inserts it.
    mutating func append(_ event: Event, to session: SQLiteSession) throws(MemberFailure) {
        var next = chain
        let tied = try cryptography { () throws(CryptographyFailure) in
            try next.append(event, position: position + 1)
        }
        chain = next
        position += 1
        isChanged = true
        _ = try database { () throws(SQLiteFailure) in
            try session[.insertEvent].bind(tied.position).bind(number).bind(tied.sequence)
                .bind(tied.time).bind(tied.body).bind(tied.digest).run()
        }
    }

    /// Writes the new end, once for all events of the transaction, and tells what it is.
    func finish(in session: SQLiteSession) throws(MemberFailure) -> ChainMark? {
        guard isChanged else { return nil }
        let head = try cryptography { () throws(CryptographyFailure) in try chain.head() }
        _ = try database { () throws(SQLiteFailure) in
            try session[.updateHead].bind(number).bind(head.sequence).bind(head.digest)
                .bind(head.authentication).bind(position).run()
        }
        return head
    }
}
