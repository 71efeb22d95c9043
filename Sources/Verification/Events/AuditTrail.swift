public import Cryptography

/// Goes through stored events and says whether one was deleted, edited, moved or cut off.
///
/// Feed it every event in the order of positions, then ask ``findings()``. What it can't see: that
/// a whole node was taken away with its record, or that events and record were put back to an
/// earlier state together; ``init(chains:checkpoints:key:)`` takes marks kept elsewhere for that.
public struct AuditTrail: Sendable {
    /// What is wrong, and where.
    public enum Finding: Hashable, Sendable {
        /// A node's record is not authentic.
        case forgedRecord(node: [UInt8])
        /// A node has events and no record.
        case unknownNode([UInt8])
        /// Events of this node are missing, doubled or out of order at this number.
        case gap(node: [UInt8], sequence: UInt64)
        /// The event, or one before it, is not what was written.
        case altered(node: [UInt8], sequence: UInt64)
        /// Events behind this number are missing at the end.
        case cutOff(node: [UInt8], behind: UInt64)
        /// There is an event behind the recorded end.
        case behindHead(node: [UInt8], sequence: UInt64)
        /// A checkpoint is not authentic, or says something else than the chain.
        case checkpoint(node: [UInt8], sequence: UInt64)
    }

    private struct Progress {
        let head: ChainMark
        var sequence: UInt64
        var digest: [UInt8]
    }

    private let key: AuditKey
    private var nodes: [[UInt8]: Progress] = [:]
    private var checkpoints: [[UInt8]: [UInt64: [UInt8]]] = [:]
    private var found: [Finding] = []

    /// Begins at the recorded beginnings.
    ///
    /// - Parameter checkpoints: marks that were kept outside the database.
    public init(
        chains: [ChainRecord], checkpoints: [ChainMark] = [], key: AuditKey
    ) throws(CryptographyFailure) {
        self.key = key
        for chain in chains {
            let isStartAuthentic = try key.isAuthentic(chain.start)
            let isHeadAuthentic = try key.isAuthentic(chain.head)
            if !isStartAuthentic || !isHeadAuthentic || chain.start.node != chain.head.node {
                found.append(.forgedRecord(node: chain.head.node))
            }
            nodes[chain.head.node] = Progress(
                head: chain.head, sequence: chain.start.sequence, digest: chain.start.digest)
        }
        for mark in checkpoints {
            guard try key.isAuthentic(mark), let progress = nodes[mark.node],
                mark.sequence <= progress.head.sequence
            else {
                found.append(.checkpoint(node: mark.node, sequence: mark.sequence))
                continue
            }
            self.checkpoints[mark.node, default: [:]][mark.sequence] = mark.digest
        }
    }

    /// Takes the next event.
    public mutating func check(_ event: ChainedEvent) throws(CryptographyFailure) {
        guard var progress = nodes[event.node] else {
            if !found.contains(.unknownNode(event.node)) { found.append(.unknownNode(event.node)) }
            return
        }
        // One fault is enough to know; behind it, only what is wrong by itself is said.
        let expected = try key.digest(
            of: event.body, node: event.node, sequence: event.sequence, behind: progress.digest)
        if event.sequence != progress.sequence + 1 {
            found.append(.gap(node: event.node, sequence: event.sequence))
        } else if !isEqualInConstantTime(expected.span, event.digest.span)
            || event.event?.time != event.time
        {
            found.append(.altered(node: event.node, sequence: event.sequence))
        } else if event.sequence > progress.head.sequence {
            found.append(.behindHead(node: event.node, sequence: event.sequence))
        }
        if let digest = checkpoints[event.node]?[event.sequence], digest != event.digest {
            found.append(.checkpoint(node: event.node, sequence: event.sequence))
        }
        progress.sequence = event.sequence
        progress.digest = event.digest
        nodes[event.node] = progress
    }

    /// Everything that was found, once all events were taken.
    public func findings() -> [Finding] {
        var all = found
        for (node, progress) in nodes where progress.sequence < progress.head.sequence {
            all.append(.cutOff(node: node, behind: progress.sequence))
        }
        for (node, progress) in nodes
        where progress.sequence == progress.head.sequence
            && progress.digest != progress.head.digest
        {
            all.append(.altered(node: node, sequence: progress.sequence))
        }
        return all
    }
}

extension AuditKey {
    /// Tells whether a mark was made with this key.
    public func isAuthentic(_ mark: ChainMark) throws(CryptographyFailure) -> Bool {
        let expected = try self.mark(
            node: mark.node, sequence: mark.sequence, digest: mark.digest)
        return isEqualInConstantTime(expected.authentication.span, mark.authentication.span)
    }
}
