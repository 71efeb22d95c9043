/// An event in its place in a node's chain, as a store keeps it.
public struct ChainedEvent: Hashable, Sendable {
    /// The store's own number: 1 and up in the order in which events became visible, over all nodes;
    /// gaps mean nothing.
    public let position: UInt64
    /// Whose chain it is in: 16 bytes.
    public let node: [UInt8]
    /// Its number in the chain: 1 and up, without a gap.
    public let sequence: UInt64
    /// The position of the chain's last event before the commit that wrote this one; covered by
    /// ``digest``, so that nobody can move an event to another position.
    public let behind: UInt64
    /// The event with the rows of its commit, in Verification's own encoding; under 16 KiB.
    public let body: [UInt8]
    /// Ties the event to all before it: 32 bytes.
    public let digest: [UInt8]
    /// When it happened, in a column of its own for ``Pruning/eventsBefore``.
    public let time: UnixTime

    /// The event; nothing when the body is damaged or a newer version wrote it.
    public var event: Event? { recorded?.event }

    /// The event with the rows of its commit; nothing when the body is damaged or newer.
    public var recorded: RecordedEvent? { RecordedEvent(decoding: body) }

    /// Puts a stored event together.
    public init(
        position: UInt64, node: [UInt8], sequence: UInt64, behind: UInt64, body: [UInt8],
        digest: [UInt8], time: UnixTime
    ) {
        self.position = position
        self.node = node
        self.sequence = sequence
        self.behind = behind
        self.body = body
        self.digest = digest
        self.time = time
    }
}

/// Where a node's chain begins and ends; a store keeps one for each node and changes it in the
/// commit that changes the chain.
public struct ChainRecord: Hashable, Sendable {
    /// Where the chain's first event that is kept stands.
    public let start: ChainStart
    /// The chain's last event.
    public let head: ChainMark
    /// The position of that event; of a chain without events, where it begins.
    public let headPosition: UInt64

    /// Takes both ends.
    public init(start: ChainStart, head: ChainMark, headPosition: UInt64) {
        self.start = start
        self.head = head
        self.headPosition = headPosition
    }
}

/// Where a node's chain begins, and why it does not begin any earlier.
///
/// It is authenticated for this purpose alone: nobody without the key makes the beginning of an end, or
/// of an event's digest.
public struct ChainStart: Hashable, Sendable {
    /// Whose chain: 16 bytes.
    public let node: [UInt8]
    /// The number of the last event that was pruned; 0 when none was.
    public let sequence: UInt64
    /// The digest of that event; zeros for number 0.
    public let digest: [UInt8]
    /// Where in the order of events that one stood; with number 0, where the chain began.
    public let position: UInt64
    /// That event's ``ChainedEvent/behind``.
    public let behind: UInt64
    /// What was pruned by; nothing when nothing was.
    public let pruning: PrunedEvents?
    /// An HMAC over all that: 32 bytes.
    public let authentication: [UInt8]

    /// Puts a stored start together; whether it is authentic, ``AuditTrail`` says.
    public init(
        node: [UInt8], sequence: UInt64, digest: [UInt8], position: UInt64, behind: UInt64,
        pruning: PrunedEvents?, authentication: [UInt8]
    ) {
        self.node = node
        self.sequence = sequence
        self.digest = digest
        self.position = position
        self.behind = behind
        self.pruning = pruning
        self.authentication = authentication
    }
}

/// Which events were pruned, and when.
public struct PrunedEvents: Hashable, Sendable {
    /// Events from before this moment were pruned.
    public let before: UnixTime
    /// When that was done (``Pruning/now``).
    public let at: UnixTime?

    /// Takes both moments.
    public init(before: UnixTime, at: UnixTime?) {
        self.before = before
        self.at = at
    }

    /// Takes two columns in milliseconds; nothing without the first one.
    public init?(before: Int64?, at: Int64?) {
        guard let before else { return nil }
        self.init(
            before: UnixTime(milliseconds: before), at: at.map(UnixTime.init(milliseconds:)))
    }
}

/// A place in a node's chain, authenticated, so that nobody moves an end who lacks the key.
///
/// Who can write the database can still put an older head back together with the older events. A
/// mark that was kept elsewhere, in a log as text, finds that.
public struct ChainMark: Hashable, Sendable {
    /// Whose chain: 16 bytes.
    public let node: [UInt8]
    /// The number of the event; 0 is the place before the first.
    public let sequence: UInt64
    /// The digest of the event; zeros for number 0.
    public let digest: [UInt8]
    /// An HMAC over all that: 32 bytes.
    public let authentication: [UInt8]

    /// Puts a stored mark together; whether it is authentic, ``AuditTrail`` says.
    public init(node: [UInt8], sequence: UInt64, digest: [UInt8], authentication: [UInt8]) {
        self.node = node
        self.sequence = sequence
        self.digest = digest
        self.authentication = authentication
    }
}
