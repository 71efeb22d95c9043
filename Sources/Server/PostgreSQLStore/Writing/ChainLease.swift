internal import SQLStore
internal import Verification
internal import WatchwordCryptography

/// A connection's exclusive use of an event chain.
///
/// A session lock keeps other writers away, so that each has its own chain. The lock ends with the
/// session, and the next writer continues the chain. The lock only avoids conflicts; for safety, a
/// chain's end is moved only if it is the end that this writer left.
struct ChainLease {
    let number: Int64
    private(set) var chain: EventChain

    /// Continues a chain that no other writer uses, or begins a new chain.
    init(
        on session: PostgreSQLSession, key: AuditKey, known: AcknowledgedCheckpoints
    ) throws(StoreFailure) {
        while true {
            // Read before the stored ends, because other threads of this process keep appending to
            // their chains.
            let marks = known.marks
            // Chains that other servers use are also checked: if one was tampered with, starting a
            // new chain would not help.
            let open = try Self.open(on: session)
            for (_, head) in open { try known.check(head, against: marks, key: key) }
            for (number, _) in open where try Self.lock(number, on: session) {
                guard let (head, position) = try Self.head(of: number, on: session) else {
                    // The chain has been closed in the meantime.
                    _ = try session.run(.unlockChain, StatementArguments(number))
                    continue
                }
                self.number = number
                try known.check(head, against: marks, key: key)
                chain = EventChain(resuming: head, at: position, key: key)
                return
            }
            let node = Randomness.bytes(count: 16)
            _ = try Self.begin(node, on: session, key: key)
        }
    }

    /// Begins a chain that is not yet visible to other sessions.
    init(
        beginning node: [UInt8], on session: PostgreSQLSession, key: AuditKey
    ) throws(StoreFailure) {
        number = try Self.begin(node, on: session, key: key)
        chain = EventChain(node: node, key: key)
    }

    /// Links events to the end of the chain; the statement checks the stored end.
    ///
    /// - Parameters:
    ///   - chain: the current chain; on return, the chain with the new events.
    ///   - dummies: events that cost the same work, but are not appended.
    func append(
        _ events: [RecordedEvent], to chain: inout EventChain, and dummies: [Event] = []
    ) -> PipelineCommand {
        let (sequence, digest) = (chain.sequence, chain.digest)
        // The database assigns the positions.
        let tied = events.map { chain.append($0, position: nil) }
        var unused = chain
        for event in dummies { _ = unused.append(RecordedEvent(event), position: nil) }
        let head = chain.head()
        var arguments = StatementArguments(
            number, head.sequence, head.digest, head.authentication, sequence, digest)
        arguments.add(tied) { $0.time }
        arguments.add(tied) { $0.body }
        arguments.add(tied) { $0.digest }
        arguments.add(chain.position.storedValue)
        return .run(.appendEvents, arguments)
    }

    /// Continues from the chain's new end, which is at `position`.
    mutating func move(to chain: EventChain, at position: UInt64) {
        self.chain = chain
        self.chain.stand(at: position)
    }

    /// The chains that can be appended to, and their ends.
    private static func open(
        on session: PostgreSQLSession
    ) throws(StoreFailure) -> [(number: Int64, head: ChainCheckpoint)] {
        try session.run(.openChains).all { row throws(StoreFailure) in
            let number = try row.requiredInteger()
            let node = try row.requiredBytes()
            return (number, try row.mark(of: node))
        }
    }

    private static func lock(
        _ number: Int64, on session: PostgreSQLSession
    ) throws(StoreFailure) -> Bool {
        let isLocked: Int64? = try session.run(.lockChain, StatementArguments(number)).first()
        return isLocked == 1
    }

    private static func head(
        of number: Int64, on session: PostgreSQLSession
    ) throws(StoreFailure) -> (head: ChainCheckpoint, position: UInt64)? {
        try session.run(.chainHead, StatementArguments(number)).first {
            row throws(StoreFailure) in
            let node = try row.requiredBytes()
            let (head, position) = (try row.mark(of: node), try row.read() as UInt64)
            // Whether the chain's last event is at the position in the chain's record.
            guard try row.requiredFlag() else { throw .chain }
            return (head, position)
        }
    }

    /// - Returns: the new chain's number.
    private static func begin(
        _ node: [UInt8], on session: PostgreSQLSession, key: AuditKey
    ) throws(StoreFailure) -> Int64 {
        let chain = EventChain(node: node, key: key)
        let (start, head) = (chain.start(), chain.head())
        let arguments = StatementArguments(
            head.node, head.digest, start.authentication, head.authentication)
        guard let number: Int64 = try session.run(.beginChain, arguments).first() else {
            throw .invalidRow
        }
        return number
    }
}

extension AcknowledgedCheckpoints {
    /// Refuses a stored end that is not authentic or is before the acknowledged end: appending
    /// there would hide the loss of events.
    ///
    /// - Parameter marks: the checkpoints that were acknowledged before the stored end was read.
    func check(
        _ head: ChainCheckpoint, against marks: [[UInt8]: ChainCheckpoint], key: AuditKey
    ) throws(StoreFailure) {
        let isAuthentic = key.isAuthentic(head)
        guard isAuthentic else { throw .chain }
        if let known = marks[head.node], known.sequence > head.sequence {
            throw remember()
        }
    }
}
