internal import WatchwordCryptography

/// The end of one node's event chain, in which each event's digest covers the previous one.
///
/// A store has one for each of its writers and updates it together with the rows. If a commit
/// fails, the store continues with the earlier chain. A node is the only writer of its chain: a
/// process or a database.
public struct EventChain: Sendable {
    /// The node: 16 random bytes.
    public let node: [UInt8]
    /// The number of events so far.
    public private(set) var sequence: UInt64
    /// The digest of the last event.
    public private(set) var digest: [UInt8]
    /// The position of the last event, as far as the store has reported it; see
    /// ``ChainedEvent/behind``.
    public private(set) var position: UInt64
    private let key: AuditKey

    /// Starts a new chain.
    ///
    /// - Parameters:
    ///   - node: 16 random bytes.
    ///   - position: where the chain starts in the store's order of events.
    public init(node: [UInt8], position: UInt64 = 0, key: AuditKey) {
        precondition(node.count == 16, "a node id has 16 bytes")
        self.node = node
        sequence = 0
        digest = [UInt8](repeating: 0, count: 32)
        self.position = position
        self.key = key
    }

    /// Continues after a stored head, which is at `position`.
    public init(resuming head: ChainCheckpoint, at position: UInt64, key: AuditKey) {
        node = head.node
        sequence = head.sequence
        digest = head.digest
        self.position = position
        self.key = key
    }

    /// Appends an event to the chain.
    ///
    /// - Parameter position: the store's own number for the event; `nil` if the store only reports
    ///   it after the commit, to ``stand(at:)``.
    public mutating func append(_ recorded: RecordedEvent, position: UInt64?) -> ChainedEvent {
        let next = ChainedEvent(
            position: position ?? 0, node: node, sequence: sequence + 1, behind: self.position,
            body: recorded.encoded, digest: [], time: recorded.event.time)
        let tied = key.tying(next, behind: digest)
        digest = tied.digest
        sequence = tied.sequence
        if let position { self.position = position }
        return tied
    }

    /// Sets the position of the last event.
    public mutating func stand(at position: UInt64) { self.position = position }

    /// The head of the chain, to be stored with it.
    public func head() -> ChainCheckpoint {
        key.mark(node: node, sequence: sequence, digest: digest)
    }

    /// The start of a chain that has no events yet.
    public func start() -> ChainStart {
        key.authenticating(
            ChainStart(
                node: node, sequence: sequence, digest: digest, position: position,
                behind: position, pruning: nil, authentication: []))
    }

    /// The new start of a chain whose events up to `last` are pruned.
    public static func start(
        behind last: ChainedEvent, pruning: PrunedEvents, key: AuditKey
    ) -> ChainStart {
        key.authenticating(
            ChainStart(
                node: last.node, sequence: last.sequence, digest: last.digest,
                position: last.position, behind: last.behind, pruning: pruning,
                authentication: []))
    }
}

/// The oldest events of a store, which are to be pruned, and the new starts of the chains.
///
/// An attacker with write access to the database can change the time column and add rows. An event
/// is therefore pruned only if it is chained to an authentic start and its time matches its body.
/// Otherwise the server would erase its own history and authenticate the gap.
public struct ExpiredEvents: Hashable, Sendable {
    /// The number of events to prune.
    public let count: Int
    /// The position of the last event to prune; all earlier ones are also pruned.
    public let end: UInt64?
    /// The new starts of the chains, ordered by node.
    public let starts: [ChainStart]
    /// Whether nothing is pruned because the events or the records of the chains were altered.
    public let areAltered: Bool

    private static let nothing = ExpiredEvents(count: 0, end: nil, starts: [], areAltered: false)
    private static let altered = ExpiredEvents(count: 0, end: nil, starts: [], areAltered: true)

    private init(count: Int, end: UInt64?, starts: [ChainStart], areAltered: Bool) {
        self.count = count
        self.end = end
        self.starts = starts
        self.areAltered = areAltered
    }

    /// Selects the events that are old enough, from the start, and checks them.
    ///
    /// - Parameters:
    ///   - first: the first stored events.
    ///   - chains: the chains' records, read at the same time as the events or later.
    public init(
        _ first: [ChainedEvent], chains: [ChainRecord], pruning: Pruning, key: AuditKey
    ) {
        guard let before = pruning.eventsBefore else {
            self = .nothing
            return
        }
        // If the two times differ, the check below detects it.
        let old = first.prefix { event in
            event.time < before || event.event.map { $0.time < before } ?? true
        }
        guard let end = old.last?.position else {
            self = .nothing
            return
        }
        var trail = AuditTrail(chains: chains, key: key)
        for event in old { trail.check(event) }
        guard trail.isIntactSoFar else {
            self = .altered
            return
        }
        var last: [[UInt8]: ChainedEvent] = [:]
        for event in old { last[event.node] = event }
        let pruned = PrunedEvents(before: before, at: pruning.now)
        var starts: [ChainStart] = []
        for event in last.values.sorted(by: { $0.node.lexicographicallyPrecedes($1.node) }) {
            starts.append(EventChain.start(behind: event, pruning: pruned, key: key))
        }
        self = ExpiredEvents(count: old.count, end: end, starts: starts, areAltered: false)
    }
}
