internal import Cryptography
internal import Verification

/// A connection's turn at a chain of events.
///
/// A lock of the session keeps others from wanting the same one, so that every writer has a chain of its
/// own; it goes with the session, and the chain is taken up again by the next who comes. It is a
/// courtesy only: a chain's end is moved on condition that it is where it was left.
struct ChainLease {
    let number: Int64
    private(set) var chain: EventChain

    /// Takes up a chain that nobody has, or begins one.
    init(
        on session: PostgreSQLSession, key: AuditKey, known: KnownHeads
    ) throws(PostgreSQLFailure) {
        while true {
            // Before the stored ends are read: others of this process go on appending to theirs.
            let marks = known.marks
            // Also those that others have: who tampered with one is not helped by a new one.
            let open = try Self.open(on: session)
            for (_, head) in open { try known.check(head, against: marks, key: key) }
            for (number, _) in open where try Self.lock(number, on: session) {
                guard let (head, position) = try Self.head(of: number, on: session) else {
                    // It was closed in the meantime.
                    _ = try session.run(.unlockChain, Self.arguments(number))
                    continue
                }
                self.number = number
                try known.check(head, against: marks, key: key)
                chain = EventChain(resuming: head, at: position, key: key)
                return
            }
            let node = try cryptography { () throws(CryptographyFailure) in
                try Randomness.bytes(count: 16)
            }
            _ = try Self.begin(node, on: session, key: key)
        }
    }

    /// Begins a chain that no other session knows of yet.
    init(
        beginning node: [UInt8], on session: PostgreSQLSession, key: AuditKey
    ) throws(PostgreSQLFailure) {
        number = try Self.begin(node, on: session, key: key)
        chain = EventChain(node: node, key: key)
    }

    /// What ties events to the end of the chain; where that is stored is checked by the statement.
    ///
    /// - Parameter chain: the chain as it is, which becomes what it will be.
    func append(
        _ events: [RecordedEvent], to chain: inout EventChain
    ) throws(PostgreSQLFailure) -> PipelineCommand {
        let (sequence, digest) = (chain.sequence, chain.digest)
        var (tied, next) = ([ChainedEvent](), chain)
        let head = try cryptography { () throws(CryptographyFailure) in
            // Positions are the database's to give.
            for event in events { tied.append(try next.append(event, position: nil)) }
            return try next.head()
        }
        chain = next
        var arguments = StatementArguments()
        arguments.add(number)
        arguments.add(Int64(clamping: head.sequence))
        arguments.add(head.digest)
        arguments.add(head.authentication)
        arguments.add(Int64(clamping: sequence))
        arguments.add(digest)
        arguments.add(tied, integer: \.time.milliseconds)
        arguments.add(tied) { $0.body }
        arguments.add(tied) { $0.digest }
        arguments.add(Int64(clamping: chain.position))
        return .run(.appendEvents, arguments)
    }

    /// Goes on behind the chain's new end, which stands at `position`.
    mutating func move(to chain: EventChain, at position: UInt64) {
        self.chain = chain
        self.chain.stand(at: position)
    }

    /// The chains that can be appended to, and where they end.
    private static func open(
        on session: PostgreSQLSession
    ) throws(PostgreSQLFailure) -> [(number: Int64, head: ChainMark)] {
        try session.run(.openChains, .none).all { row throws(PostgreSQLFailure) in
            let number = try row.requiredInteger()
            let node = try row.requiredBytes()
            return (number, try row.mark(of: node))
        }
    }

    private static func lock(
        _ number: Int64, on session: PostgreSQLSession
    ) throws(PostgreSQLFailure) -> Bool {
        try session.run(.lockChain, arguments(number))
            .first { row throws(PostgreSQLFailure) in try row.requiredInteger() } == 1
    }

    private static func head(
        of number: Int64, on session: PostgreSQLSession
    ) throws(PostgreSQLFailure) -> (head: ChainMark, position: UInt64)? {
        try session.run(.chainHead, arguments(number)).first { row throws(PostgreSQLFailure) in
            let node = try row.requiredBytes()
            let (head, position) = (try row.mark(of: node), try row.unsigned())
            // Its last event is where the chain's record says.
            guard try row.requiredFlag() else { throw .chain }
            return (head, position)
        }
    }

    /// - Returns: the new chain's number.
    private static func begin(
        _ node: [UInt8], on session: PostgreSQLSession, key: AuditKey
    ) throws(PostgreSQLFailure) -> Int64 {
        let (start, head) = try cryptography { () throws(CryptographyFailure) in
            let chain = EventChain(node: node, key: key)
            return (try chain.start(), try chain.head())
        }
        var arguments = StatementArguments()
        arguments.add(head.node)
        arguments.add(head.digest)
        arguments.add(start.authentication)
        arguments.add(head.authentication)
        let number = try session.run(.beginChain, arguments)
            .first { row throws(PostgreSQLFailure) in try row.requiredInteger() }
        guard let number else { throw .strangeRow }
        return number
    }

    private static func arguments(_ number: Int64) -> StatementArguments {
        var arguments = StatementArguments()
        arguments.add(number)
        return arguments
    }
}

extension KnownHeads {
    /// A stored end that is not authentic, or before the one that was acknowledged, is not gone on
    /// from: that would cover up what somebody cut off.
    ///
    /// - Parameter marks: what was acknowledged when the stored end was asked for.
    func check(
        _ head: ChainMark, against marks: [[UInt8]: ChainMark], key: AuditKey
    ) throws(PostgreSQLFailure) {
        let isAuthentic: Bool
        do { isAuthentic = try key.isAuthentic(head) } catch { throw .cryptography }
        guard isAuthentic else { throw .chain }
        if let known = marks[head.node], known.sequence > head.sequence {
            throw remember()
        }
    }
}

extension PostgreSQLFailure {
    /// The chain's stored end is not the one that was written.
    static let chain = PostgreSQLFailure(extent: .connection, code: "chain")
    /// An event could not be tied to the chain.
    static let cryptography = PostgreSQLFailure(extent: .connection, code: "cryptography")
}
