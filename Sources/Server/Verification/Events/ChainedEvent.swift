internal import WatchwordCryptography

/// An event in its place in a node's chain, as stored.
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
    /// The position of the chain's last event before the commit that wrote this one.
    ///
    /// ``digest`` covers it, so that an event cannot be moved to another position.
    public let behind: UInt64
    /// The event and the rows of its commit, in Verification's own encoding; less than 16 KiB.
    public let body: [UInt8]
    /// Chains the event to all earlier ones: 32 bytes.
    public internal(set) var digest: [UInt8]
    /// The time of the event, in its own column for ``Pruning/eventsBefore``.
    public let time: UnixTime

    /// The event; `nil` if the body is damaged or a newer version wrote it.
    public var event: Event? { recorded?.event }

    /// The event and the rows of its commit; `nil` if the body is damaged or a newer version wrote
    /// it.
    public var recorded: RecordedEvent? { RecordedEvent(decoding: body) }

    /// Creates an event from its stored columns.
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
    /// The start of the part of the chain that is stored.
    public let start: ChainStart
    /// The chain's last event.
    public let head: ChainCheckpoint
    /// The position of the head; for a chain without events, the position of its start.
    public let headPosition: UInt64

    /// Creates a record from its stored columns.
    public init(start: ChainStart, head: ChainCheckpoint, headPosition: UInt64) {
        self.start = start
        self.head = head
        self.headPosition = headPosition
    }
}

/// The start of a node's chain, and the reason why it does not start earlier.
///
/// Its authentication code is valid for this purpose only, so nobody can turn a head or an event's
/// digest into a start without the key.
public struct ChainStart: Hashable, Sendable {
    /// The node that the chain belongs to: 16 bytes.
    public let node: [UInt8]
    /// The number of the last pruned event; 0 if none was pruned.
    public let sequence: UInt64
    /// The digest of that event; zeros for number 0.
    public let digest: [UInt8]
    /// The position of that event; for number 0, the position where the chain began.
    public let position: UInt64
    /// The ``ChainedEvent/behind`` of that event.
    public let behind: UInt64
    /// The rule that events were pruned by; `nil` if none were pruned.
    public let pruning: PrunedEvents?
    /// An HMAC over all other fields: 32 bytes.
    public internal(set) var authentication: [UInt8]

    /// Creates a start from its stored columns.
    ///
    /// ``AuditTrail`` checks whether it is authentic.
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

    /// Creates the value from both times.
    public init(before: UnixTime, at: UnixTime?) {
        self.before = before
        self.at = at
    }

    /// Creates the value from two columns in milliseconds; `nil` if the first one is `nil`.
    public init?(before: Int64?, at: Int64?) {
        guard let before else { return nil }
        self.init(
            before: UnixTime(milliseconds: before), at: at.map(UnixTime.init(milliseconds:)))
    }
}

/// An authenticated place in a node's chain, so that nobody can move the head without the key.
///
/// An attacker with write access to the database can still put back an older head together with the
/// older events. A checkpoint that was kept elsewhere, such as a line in a log, reveals that.
public struct ChainCheckpoint: Hashable, Sendable {
    /// The node whose chain contains this place: 16 bytes.
    public let node: [UInt8]
    /// The number of the event; 0 means before the first event.
    public let sequence: UInt64
    /// The digest of the event; zeros for number 0.
    public let digest: [UInt8]
    /// An HMAC over all other fields: 32 bytes.
    public let authentication: [UInt8]

    /// Creates a checkpoint from its stored columns.
    ///
    /// ``AuditTrail`` checks whether it is authentic.
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
    /// ``AuditTrail`` checks whether it is authentic.
    public init?(text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 5, let sequence = UInt64(words[2]) else { return nil }
        do throws(Base64Error) {
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
