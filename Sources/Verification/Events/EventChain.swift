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
    private let key: AuditKey

    /// Starts a new chain.
    ///
    /// - Parameter node: 16 random bytes.
    public init(node: [UInt8], key: AuditKey) {
        precondition(node.count == 16, "a node is named by 16 bytes")
        self.node = node
        sequence = 0
        digest = [UInt8](repeating: 0, count: 32)
        self.key = key
    }

    /// Goes on behind a stored head.
    public init(resuming head: ChainMark, key: AuditKey) {
        node = head.node
        sequence = head.sequence
        digest = head.digest
        self.key = key
    }

    /// Ties `event` to the end of the chain.
    ///
    /// - Parameter position: the store's own number for it.
    /// - Throws: ``CryptographyFailure``; the chain is as it was then.
    public mutating func append(
        _ event: Event, position: UInt64
    ) throws(CryptographyFailure) -> ChainedEvent {
        let body = event.encoded
        let next = sequence + 1
        let digest = try key.digest(of: body, node: node, sequence: next, behind: digest)
        self.digest = digest
        sequence = next
        return ChainedEvent(
            position: position, node: node, sequence: next, body: body, digest: digest,
            time: event.time)
    }

    /// The end of the chain, to be stored with it.
    public func head() throws(CryptographyFailure) -> ChainMark {
        try key.mark(node: node, sequence: sequence, digest: digest)
    }

    /// The new beginning of a chain whose events up to `last` are pruned.
    public static func start(
        behind last: ChainedEvent, key: AuditKey
    ) throws(CryptographyFailure) -> ChainMark {
        try key.mark(node: last.node, sequence: last.sequence, digest: last.digest)
    }
}

extension AuditKey {
    func digest(
        of body: [UInt8], node: [UInt8], sequence: UInt64, behind previous: [UInt8]
    ) throws(CryptographyFailure) -> [UInt8] {
        try authenticate("watchword event") { writer in
            writer.write(previous)
            writer.write(node)
            writer.write(sequence)
            writer.write(body)
        }
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
