internal import WatchwordCryptography

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
    public init(_ first: [ChainedEvent], chains: [ChainRecord], pruning: Pruning, key: AuditKey) {
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
