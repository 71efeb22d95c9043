internal import WatchwordCryptography

/// The last event of each chain, used to check the clock before irreversible decisions.
public struct LastEvents: Sendable {
    private struct End: Sendable {
        let record: ChainRecord
        let last: ChainedEvent
        /// The digest that the last event is chained to.
        let previous: [UInt8]
    }

    /// The time of the newest event; `nil` if there are no events.
    public let newest: UnixTime?
    private let ends: [End]
    /// Whether every event that the records name was found.
    private let areAllFound: Bool

    /// Finds the last event of each chain.
    ///
    /// - Parameter page: returns at most `limit` events after a position.
    public init<Failure: Error>(
        of chains: [ChainRecord],
        _ page: (_ position: UInt64, _ limit: Int) throws(Failure) -> [ChainedEvent]
    ) throws(Failure) {
        var ends: [End] = []
        let used = chains.filter { $0.head.sequence > $0.start.sequence }
        for record in used {
            let sequence = record.head.sequence
            func event(at position: UInt64, _ sequence: UInt64) throws(Failure) -> ChainedEvent? {
                guard position > 0 else { return nil }
                return try page(position - 1, 1).first { event in
                    event.position == position && event.node == record.head.node
                        && event.sequence == sequence
                }
            }
            guard let last = try event(at: record.headPosition, sequence) else { continue }
            var previous = record.start.sequence + 1 == sequence ? record.start.digest : nil
            // The previous event is in the same commit, at the preceding position, or it is the
            // last event of the chain's previous commit.
            for position in [last.position - 1, last.behind] where previous == nil {
                previous = try event(at: position, sequence - 1)?.digest
            }
            if let previous { ends.append(End(record: record, last: last, previous: previous)) }
        }
        self.ends = ends
        areAllFound = ends.count == used.count
        newest = ends.compactMap(\.last.event?.time).max()
    }

    /// Whether the events and their times are authentic.
    public func areAuthentic(_ key: AuditKey) -> Bool {
        for end in ends {
            let expected = key.tying(end.last, behind: end.previous).digest
            guard end.last.event != nil, key.isAuthentic(end.record.start),
                key.isAuthentic(end.record.head),
                isEqualInConstantTime(expected.span, end.last.digest.span),
                isEqualInConstantTime(expected.span, end.record.head.digest.span)
            else { return false }
        }
        return areAllFound
    }
}
