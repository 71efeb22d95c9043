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
        on session: PostgreSQLSession, key: AuditKey, known: KnownHeads,
        node: () throws(CryptographyFailure) -> [UInt8]
    ) throws(PostgreSQLFailure) {
        while true {
            let open = try session.run(.openChains, .none)
                .all { row throws(PostgreSQLFailure) in try row.requiredInteger() }
            for number in open where try Self.lock(number, on: session) {
                guard let head = try Self.head(of: number, on: session) else {
                    // It was closed in the meantime.
                    _ = try session.run(.unlockChain, Self.arguments(number))
                    continue
                }
                self.number = number
                try known.check(head, key: key)
                chain = EventChain(resuming: head, key: key)
                return
            }
            try Self.begin(on: session, key: key, node: node)
        }
    }

    /// Goes on behind the chain's new end.
    mutating func move(to chain: EventChain) { self.chain = chain }

    private static func lock(
        _ number: Int64, on session: PostgreSQLSession
    ) throws(PostgreSQLFailure) -> Bool {
        try session.run(.lockChain, arguments(number))
            .first { row throws(PostgreSQLFailure) in try row.requiredInteger() } == 1
    }

    private static func head(
        of number: Int64, on session: PostgreSQLSession
    ) throws(PostgreSQLFailure) -> ChainMark? {
        try session.run(.chainHead, arguments(number)).first { row throws(PostgreSQLFailure) in
            let node = try row.requiredBytes()
            return try row.mark(of: node)
        }
    }

    private static func begin(
        on session: PostgreSQLSession, key: AuditKey,
        node: () throws(CryptographyFailure) -> [UInt8]
    ) throws(PostgreSQLFailure) {
        let head: ChainMark
        do throws(CryptographyFailure) {
            head = try EventChain(node: node(), key: key).head()
        } catch { throw .cryptography }
        var arguments = StatementArguments()
        arguments.add(head.node)
        arguments.add(Int64(clamping: head.sequence))
        arguments.add(head.digest)
        arguments.add(head.authentication)
        _ = try session.run(.beginChain, arguments)
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
    func check(_ head: ChainMark, key: AuditKey) throws(PostgreSQLFailure) {
        let isAuthentic: Bool
        do { isAuthentic = try key.isAuthentic(head) } catch { throw .cryptography }
        guard isAuthentic else { throw .chain }
        if let known = self.head(of: head.node), known.sequence > head.sequence { throw .behind }
    }
}

extension PostgreSQLFailure {
    /// The chain's stored end is not the one that was written.
    static let chain = PostgreSQLFailure(extent: .connection, code: "chain")
    /// An event could not be tied to the chain.
    static let cryptography = PostgreSQLFailure(extent: .connection, code: "cryptography")
}
