internal import WatchwordCryptography

/// The end of one node's event chain, in which each event's digest covers the previous one.
///
/// A store has one chain for each of its writers, and updates the chain together with the rows. If
/// a commit fails, the store continues with the earlier chain. A node is the only writer of its
/// chain: a process or a database.
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

    /// The start of a chain without events.
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
/// Otherwise an attacker could make the server erase its own history and authenticate the gap.
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

/// An event with its place in a node's chain, as stored.
public struct ChainedEvent: Hashable, Sendable {
    /// The store's own number, counted from 1 over all nodes in the order in which events became
    /// visible.
    ///
    /// There are gaps only before the first event of a chain.
    public let position: UInt64
    /// The node whose chain contains the event: 16 bytes.
    public let node: [UInt8]
    /// The number in the chain, counted from 1 without gaps.
    public let sequence: UInt64
    /// The position of the chain's last event before the commit that wrote this event.
    ///
    /// ``digest`` covers this position, so that an event cannot be moved to another position.
    public let behind: UInt64
    /// The event and the rows of its commit, in Verification's own encoding; less than 16 KiB.
    public let body: [UInt8]
    /// Chains the event to all earlier ones: 32 bytes.
    public internal(set) var digest: [UInt8]
    /// The time of the event, in its own column for ``Pruning/eventsBefore``.
    public let time: UnixTime

    /// The event; `nil` if the body is damaged or was written by a newer version.
    public var event: Event? { recorded?.event }

    /// The event and the rows of its commit; `nil` if the body is damaged or was written by a newer
    /// version.
    public var recorded: RecordedEvent? { RecordedEvent(decoding: body) }

    /// Takes the stored columns.
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

/// The start and head of a node's chain.
///
/// A store has one record per node, and updates it in the commit that changes the chain.
public struct ChainRecord: Hashable, Sendable {
    /// The start of the stored part of the chain.
    public let start: ChainStart
    /// The checkpoint of the chain's last event.
    public let head: ChainCheckpoint
    /// The position of the head; for a chain without events, the position of its start.
    public let headPosition: UInt64

    /// Takes the stored columns.
    public init(start: ChainStart, head: ChainCheckpoint, headPosition: UInt64) {
        self.start = start
        self.head = head
        self.headPosition = headPosition
    }
}

/// The start of a node's chain, and the reason why it does not start earlier.
///
/// Its authentication code is valid for this purpose only, so that a head or an event's digest
/// cannot be turned into a start without the key.
public struct ChainStart: Hashable, Sendable {
    /// The node that the chain belongs to: 16 bytes.
    public let node: [UInt8]
    /// The number of the last pruned event; 0 if none was pruned.
    public let sequence: UInt64
    /// The digest of the last pruned event; zeros for number 0.
    public let digest: [UInt8]
    /// The position of the last pruned event; for number 0, the position where the chain began.
    public let position: UInt64
    /// The ``ChainedEvent/behind`` of the last pruned event.
    public let behind: UInt64
    /// The rule by which events were pruned; `nil` if none were pruned.
    public let pruning: PrunedEvents?
    /// An HMAC over all other fields: 32 bytes.
    public internal(set) var authentication: [UInt8]

    /// Takes the stored columns.
    ///
    /// ``AuditTrail`` checks whether the start is authentic.
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

/// The rule and the time of a pruning.
public struct PrunedEvents: Hashable, Sendable {
    /// Events before this time were pruned.
    public let before: UnixTime
    /// The time of the pruning (``Pruning/now``).
    public let at: UnixTime?

    /// Takes the time limit and the time of the pruning.
    public init(before: UnixTime, at: UnixTime?) {
        self.before = before
        self.at = at
    }

    /// Takes two columns in milliseconds; `nil` if the first column is `nil`.
    public init?(before: Int64?, at: Int64?) {
        guard let before else { return nil }
        self.init(
            before: UnixTime(milliseconds: before), at: at.map(UnixTime.init(milliseconds:)))
    }
}

/// An authenticated place in a node's chain, so that the head cannot be moved without the key.
///
/// An attacker with write access to the database can still put back an older head together with the
/// older events. A checkpoint that was kept elsewhere, such as a line in a log, reveals this.
public struct ChainCheckpoint: Hashable, Sendable {
    /// The node whose chain contains this place: 16 bytes.
    public let node: [UInt8]
    /// The number of the event; 0 means before the first event.
    public let sequence: UInt64
    /// The digest of the event; zeros for number 0.
    public let digest: [UInt8]
    /// An HMAC over all other fields: 32 bytes.
    public let authentication: [UInt8]

    /// Takes the stored columns.
    ///
    /// ``AuditTrail`` checks whether the checkpoint is authentic.
    public init(node: [UInt8], sequence: UInt64, digest: [UInt8], authentication: [UInt8]) {
        self.node = node
        self.sequence = sequence
        self.digest = digest
        self.authentication = authentication
    }
}

// Outside the database, a checkpoint is a line of text in a file or a log.
extension ChainCheckpoint {
    /// The prefix of every checkpoint's text.
    public static let textPrefix = "watchword-chain-mark "

    /// The checkpoint as one line, without a line break: node, number, digest and HMAC.
    public var text: String {
        Self.textPrefix + Base64URL.encode(node.span) + " \(sequence) "
            + Base64URL.encode(digest.span) + " " + Base64URL.encode(authentication.span)
    }

    /// Parses the canonical text of a checkpoint.
    ///
    /// ``AuditTrail`` checks whether the checkpoint is authentic.
    public init?(text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 5, let sequence = UInt64(words[2]) else { return nil }
        do throws(CryptographyError) {
            self.init(
                node: try Base64URL.decode(Array(words[1].utf8).span), sequence: sequence,
                digest: try Base64URL.decode(Array(words[3].utf8).span),
                authentication: try Base64URL.decode(Array(words[4].utf8).span))
        } catch {
            return nil
        }
        guard node.count == 16, digest.count == 32, authentication.count == 32, self.text == text
        else { return nil }
    }
}
