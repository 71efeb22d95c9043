public import Cryptography

/// The oldest events of a store, which pruning takes away, and where the chains begin without them.
///
/// Whoever can write the database can write the column of the times and add rows. So nothing goes that
/// is not tied to an authentic beginning, or whose time is not the one in its body: otherwise the server
/// would erase its own history and authenticate the gap.
public struct OldEvents: Hashable, Sendable {
    /// How many events go.
    public let count: Int
    /// The position of the last one that goes; those before it go, too.
    public let end: UInt64?
    /// The new beginnings of the chains, in the order of their nodes.
    public let starts: [ChainStart]
    /// Whether events stay because they, or the records of the chains, are not what was written.
    public let areAltered: Bool

    private static let nothing = OldEvents(count: 0, end: nil, starts: [], areAltered: false)
    private static let altered = OldEvents(count: 0, end: nil, starts: [], areAltered: true)

    private init(count: Int, end: UInt64?, starts: [ChainStart], areAltered: Bool) {
        self.count = count
        self.end = end
        self.starts = starts
        self.areAltered = areAltered
    }

    /// Takes the events that are old enough to go, from the front, and checks them.
    ///
    /// - Parameters:
    ///   - first: the first events that are stored.
    ///   - chains: the chains' records, read at the same time as the events or later.
    public init(
        _ first: [ChainedEvent], chains: [ChainRecord], pruning: Pruning, key: AuditKey
    ) throws(CryptographyFailure) {
        guard let before = pruning.eventsBefore else {
            self = .nothing
            return
        }
        // Where the two times differ, the check finds it.
        let old = first.prefix { event in
            event.time < before || event.event.map { $0.time < before } ?? true
        }
        guard let end = old.last?.position else {
            self = .nothing
            return
        }
        var trail = try AuditTrail(chains: chains, key: key)
        for event in old { try trail.check(event) }
        guard trail.isWholeSoFar else {
            self = .altered
            return
        }
        var last: [[UInt8]: ChainedEvent] = [:]
        for event in old { last[event.node] = event }
        let pruned = PrunedEvents(before: before, at: pruning.now)
        var starts: [ChainStart] = []
        for event in last.values.sorted(by: { $0.node.lexicographicallyPrecedes($1.node) }) {
            starts.append(try EventChain.start(behind: event, pruning: pruned, key: key))
        }
        self = OldEvents(count: old.count, end: end, starts: starts, areAltered: false)
    }
}
