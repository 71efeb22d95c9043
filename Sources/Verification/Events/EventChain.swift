public import Cryptography

/// One node's chain of events, at its end: each event's digest covers the one before.
///
/// A store holds one for each writer that it has, and changes it together with the rows: when a
/// commit does not happen, the chain as it was before goes on. A node is whoever appends alone, be it
/// a process or a database.
public struct EventChain: Sendable {
    /// Whose chain: 16 random bytes.
    public let node: [UInt8]
    /// How many events it has had.
    public private(set) var sequence: UInt64
    /// The last event's digest.
    public private(set) var digest: [UInt8]
    /// The last event's position, as far as the store has told it; see ``ChainedEvent/behind``.
    public private(set) var position: UInt64
    private let key: AuditKey

    /// Starts a new chain.
    ///
    /// - Parameters:
    ///   - node: 16 random bytes.
    ///   - position: where it begins in the store's order of events.
    public init(node: [UInt8], position: UInt64 = 0, key: AuditKey) {
        precondition(node.count == 16, "a node is named by 16 bytes")
        self.node = node
        sequence = 0
        digest = [UInt8](repeating: 0, count: 32)
        self.position = position
        self.key = key
    }

    /// Goes on behind a stored head, which stands at `position`.
    public init(resuming head: ChainMark, at position: UInt64, key: AuditKey) {
        node = head.node
        sequence = head.sequence
        digest = head.digest
        self.position = position
        self.key = key
    }

    /// Ties an event to the end of the chain.
    ///
    /// - Parameter position: the store's own number for it; nothing where the store tells it when the
    ///   commit is done, to ``stand(at:)``.
    /// - Throws: ``CryptographyFailure``; the chain is as it was then.
    public mutating func append(
        _ recorded: RecordedEvent, position: UInt64?
    ) throws(CryptographyFailure) -> ChainedEvent {
        let next = ChainedEvent(
            position: position ?? 0, node: node, sequence: sequence + 1, behind: self.position,
            body: recorded.encoded, digest: [], time: recorded.event.time)
        let tied = try key.tying(next, behind: digest)
        digest = tied.digest
        sequence = tied.sequence
        if let position { self.position = position }
        return tied
    }

    /// Learns the last event's position.
    public mutating func stand(at position: UInt64) { self.position = position }

    /// The end of the chain, to be stored with it.
    public func head() throws(CryptographyFailure) -> ChainMark {
        try key.mark(node: node, sequence: sequence, digest: digest)
    }

    /// The beginning of a chain that was just started.
    public func start() throws(CryptographyFailure) -> ChainStart {
        try key.start(
            node: node, sequence: sequence, digest: digest, position: position, behind: position,
            pruning: nil)
    }

    /// The new beginning of a chain whose events up to `last` are pruned.
    public static func start(
        behind last: ChainedEvent, pruning: PrunedEvents, key: AuditKey
    ) throws(CryptographyFailure) -> ChainStart {
        try key.start(
            node: last.node, sequence: last.sequence, digest: last.digest,
            position: last.position, behind: last.behind, pruning: pruning)
    }
}

extension AuditKey {
    /// The event with the digest that ties it to the one with the digest `previous`.
    func tying(
        _ event: ChainedEvent, behind previous: [UInt8]
    ) throws(CryptographyFailure) -> ChainedEvent {
        let digest = try authenticate("watchword event") { writer in
            writer.write(previous)
            writer.write(event.node)
            writer.write(event.sequence)
            writer.write(event.behind)
            writer.write(event.body)
        }
        return ChainedEvent(
            position: event.position, node: event.node, sequence: event.sequence,
            behind: event.behind, body: event.body, digest: digest, time: event.time)
    }

    func start(
        node: [UInt8], sequence: UInt64, digest: [UInt8], position: UInt64, behind: UInt64,
        pruning: PrunedEvents?
    ) throws(CryptographyFailure) -> ChainStart {
        let authentication = try authenticate("watchword chain start") { writer in
            writer.write(node)
            writer.write(sequence)
            writer.write(digest)
            writer.write(position)
            writer.write(behind)
            writer.writeIfThere(pruning) { writer, pruning in
                writer.write(pruning.before)
                writer.writeIfThere(pruning.at) { $0.write($1) }
            }
        }
        return ChainStart(
            node: node, sequence: sequence, digest: digest, position: position, behind: behind,
            pruning: pruning, authentication: authentication)
    }

    func mark(
        node: [UInt8], sequence: UInt64, digest: [UInt8]
    ) throws(CryptographyFailure) -> ChainMark {
        let authentication = try authenticate("watchword chain mark") { writer in
            writer.write(node)
            writer.write(sequence)
            writer.write(digest)
        }
        return ChainMark(
            node: node, sequence: sequence, digest: digest, authentication: authentication)
    }
}
