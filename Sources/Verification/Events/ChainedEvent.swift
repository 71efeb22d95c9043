/// An event in its place in a node's chain, as a store keeps it.
public struct ChainedEvent: Hashable, Sendable {
    /// The store's own number: 1 and up in the order in which events became visible, over all nodes;
    /// gaps mean nothing.
    public let position: UInt64
    /// Whose chain it is in: 16 bytes.
    public let node: [UInt8]
    /// Its number in the chain: 1 and up, without a gap.
    public let sequence: UInt64
    /// The event, in Verification's own encoding; under 4 KiB.
    public let body: [UInt8]
    /// Ties the event to all before it: 32 bytes.
    public let digest: [UInt8]
    /// When it happened, in a column of its own for ``Pruning/eventsBefore``.
    public let time: UnixTime

    /// The event; nothing when the body is damaged or a newer version wrote it.
    public var event: Event? { Event(decoding: body) }

    /// Puts a stored event together.
    public init(
        position: UInt64, node: [UInt8], sequence: UInt64, body: [UInt8], digest: [UInt8],
        time: UnixTime
    ) {
        self.position = position
        self.node = node
        self.sequence = sequence
        self.body = body
        self.digest = digest
        self.time = time
    }
}

/// Where a node's chain begins and ends; a store keeps one for each node and changes it in the
/// commit that changes the chain.
public struct ChainRecord: Hashable, Sendable {
    /// The last event before the chain's first one that is kept: at the beginning number 0, later
    /// the last one that was pruned.
    public let start: ChainMark
    /// The chain's last event; equal to ``start`` while there is none.
    public let head: ChainMark

    /// Takes both ends.
    public init(start: ChainMark, head: ChainMark) {
        self.start = start
        self.head = head
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
