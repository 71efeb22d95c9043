import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

@Suite("EventChain")
struct EventChainTests {
    static let key = AuditKey(
        events: SecretBytes(text: "an audit key of these tests only"),
        rows: SecretBytes(text: "a row key of these tests only"))
    static let node = [UInt8](repeating: 7, count: 16)
    static let pruning = PrunedEvents(before: UnixTime(seconds: 5), at: UnixTime(seconds: 9))

    /// A chain of `count` events and its record.
    static func chain(_ count: Int) throws -> (events: [ChainedEvent], record: ChainRecord) {
        var chain = EventChain(node: node, key: key)
        let start = chain.start()
        let events = try (0..<count).map { index in
            try chain.append(recorded(index), position: UInt64(index + 1))
        }
        return (
            events,
            ChainRecord(
                start: start, head: chain.head(), headPosition: UInt64(count))
        )
    }

    static func recorded(_ index: Int) throws -> RecordedEvent { RecordedEvent(try event(index)) }

    static func event(_ index: Int) throws -> Event {
        let id = try #require(CredentialID(bytes: [UInt8](repeating: UInt8(index), count: 16)))
        return Event(
            .denied, reason: .wrong, time: UnixTime(seconds: Int64(index)),
            subject: Subject("alice\r\n{\"kind\":\"accepted\"}"), credential: id,
            verification: VerificationID(bytes: id.bytes),
            origin: Origin(
                address: "::1", userAgent: "a\nb", client: ClientID(bytes: id.bytes)),
            number: -1)
    }

    private func findings(
        _ events: [ChainedEvent], _ record: ChainRecord, checkpoints: [ChainCheckpoint] = []
    ) -> [AuditTrail.Finding] {
        var trail = AuditTrail(
            chains: [record], checkpoints: checkpoints, key: EventChainTests.key)
        for event in events { trail.check(event) }
        return trail.findings()
    }

    @Test("V-30 an unmodified chain has no findings, whatever text it contains")
    func untouched() throws {
        let (events, record) = try EventChainTests.chain(5)
        #expect(findings(events, record) == [])
        for (index, event) in events.enumerated() {
            #expect(event.event == (try EventChainTests.event(index)))
        }
    }

    @Test("V-30 the deletion of any event is detected: at the start, in the middle or at the end")
    func deletion() throws {
        let (events, record) = try EventChainTests.chain(4)
        for index in events.indices {
            var left = events
            left.remove(at: index)
            #expect(!findings(left, record).isEmpty, "event \(index)")
        }
        #expect(
            try findings(Array(events.dropLast()), record)
                == [.truncated(node: EventChainTests.node, behind: 3)])
    }

    @Test("V-30 a change to any byte of an event is found")
    func edit() throws {
        let (events, record) = try EventChainTests.chain(3)
        let body = events[1].body
        for index in body.indices {
            var spoiled = body
            spoiled[index] ^= 1
            var edited = events
            edited[1] = ChainedEvent(
                position: 2, node: events[1].node, sequence: 2, behind: 1, body: spoiled,
                digest: events[1].digest, time: events[1].time)
            #expect(!findings(edited, record).isEmpty, "byte \(index)")
        }
    }

    @Test("V-30 an authentic event from a different history of the same node is detected")
    func mixed() throws {
        let (events, record) = try EventChainTests.chain(3)
        var other = EventChain(node: EventChainTests.node, key: EventChainTests.key)
        _ = try other.append(EventChainTests.recorded(8), position: 1)
        let foreign = try other.append(EventChainTests.recorded(9), position: 2)
        #expect(!findings([events[0], foreign, events[2]], record).isEmpty)
    }

    @Test("V-30 a change to the time column, on which pruning relies, is found")
    func editedTime() throws {
        let (events, record) = try EventChainTests.chain(1)
        let edited = ChainedEvent(
            position: 1, node: events[0].node, sequence: 1, behind: 0, body: events[0].body,
            digest: events[0].digest, time: UnixTime(seconds: 99))
        #expect(
            try findings([edited], record)
                == [.altered(node: EventChainTests.node, sequence: 1)])
    }

    @Test("V-30 swapped and duplicated events are found")
    func reordering() throws {
        let (events, record) = try EventChainTests.chain(3)
        #expect(!findings([events[0], events[2], events[1]], record).isEmpty)
        #expect(!findings([events[0], events[1], events[1], events[2]], record).isEmpty)
    }

    @Test("V-30 a chain rebuilt without the key is detected")
    func otherKey() throws {
        let (_, record) = try EventChainTests.chain(2)
        var forged = EventChain(
            node: EventChainTests.node,
            key: AuditKey(
                events: SecretBytes(text: "another"), rows: SecretBytes(text: "another")))
        let events = try (0..<2).map { index in
            try forged.append(EventChainTests.recorded(index + 5), position: UInt64(index + 1))
        }
        #expect(!findings(events, record).isEmpty)
        let forgedRecord = ChainRecord(
            start: record.start, head: forged.head(), headPosition: 2)
        #expect(
            findings(events, forgedRecord).contains(
                .forgedRecord(node: EventChainTests.node)))
    }

    @Test("V-30 a checkpoint kept elsewhere reveals a chain rolled back with its events")
    func checkpoint() throws {
        let (events, late) = try EventChainTests.chain(4)
        let (_, early) = try EventChainTests.chain(2)
        let cut = Array(events.prefix(2))
        #expect(findings(cut, early) == [])
        #expect(
            try findings(cut, early, checkpoints: [late.head])
                == [.checkpoint(node: EventChainTests.node, sequence: 4)])
        #expect(findings(events, late, checkpoints: [early.head, late.head]) == [])
    }

    @Test("pruning the start is not a finding, but deleting later events is")
    func pruning() throws {
        let (events, record) = try EventChainTests.chain(5)
        let start = EventChain.start(
            behind: events[1], pruning: EventChainTests.pruning, key: EventChainTests.key)
        let pruned = ChainRecord(start: start, head: record.head, headPosition: record.headPosition)
        #expect(findings(Array(events[2...]), pruned) == [])
        #expect(!findings(Array(events[3...]), pruned).isEmpty)
    }

    @Test("a chain resumes at its stored head without a gap")
    func resuming() throws {
        let (events, record) = try EventChainTests.chain(2)
        var chain = EventChain(resuming: record.head, at: 2, key: EventChainTests.key)
        let next = try chain.append(EventChainTests.recorded(9), position: 3)
        let longer = ChainRecord(
            start: record.start, head: chain.head(), headPosition: 3)
        #expect(findings(events + [next], longer) == [])
    }

    @Test("O-03 a change to the recorded position of a head is found")
    func movedHead() throws {
        let (events, record) = try EventChainTests.chain(3)
        for position: UInt64 in [0, 2, 4, .max] {
            let moved = ChainRecord(start: record.start, head: record.head, headPosition: position)
            #expect(findings(events, moved) == [.movedHead(node: EventChainTests.node)])
        }
        // The head of a chain without events is its start.
        let (_, empty) = try EventChainTests.chain(0)
        #expect(findings([], empty) == [])
        let moved = ChainRecord(start: empty.start, head: empty.head, headPosition: 1)
        #expect(findings([], moved) == [.movedHead(node: EventChainTests.node)])
    }

    @Test("an event from an unknown node is reported")
    func unknownNode() throws {
        let (events, _) = try EventChainTests.chain(1)
        var trail = AuditTrail(chains: [], key: EventChainTests.key)
        trail.check(events[0])
        #expect(trail.findings() == [.unknownNode(EventChainTests.node)])
    }

    @Test("O-03 a start forged from a head, an event or another start is detected")
    func forgedStart() throws {
        let (events, record) = try EventChainTests.chain(5)
        let head = record.head
        let forged = [
            // The head's own authentication code, and the digest of an event.
            (head, head.authentication), (head, events[4].digest),
            (try EventChainTests.chain(2).record.head, record.start.authentication),
        ]
        for (mark, authentication) in forged {
            let start = ChainStart(
                node: mark.node, sequence: mark.sequence, digest: mark.digest,
                position: mark.sequence, behind: mark.sequence - 1,
                pruning: EventChainTests.pruning, authentication: authentication)
            let left = Array(events[Int(mark.sequence)...])
            #expect(
                findings(
                    left, ChainRecord(start: start, head: head, headPosition: record.headPosition))
                    == [.forgedRecord(node: EventChainTests.node)])
        }
    }

    @Test("O-03 every field of a chain's start is authenticated")
    func startFields() throws {
        let (events, record) = try EventChainTests.chain(3)
        let start = EventChain.start(
            behind: events[1], pruning: EventChainTests.pruning, key: EventChainTests.key)
        let other = PrunedEvents(before: UnixTime(seconds: 6), at: UnixTime(seconds: 9))
        let later = PrunedEvents(before: UnixTime(seconds: 5), at: UnixTime(seconds: 8))
        var edited: [ChainStart] = []
        for pruning in [other, later, nil] { edited.append(start.with(pruning: pruning)) }
        edited.append(start.with(sequence: 1))
        edited.append(start.with(digest: events[0].digest))
        edited.append(start.with(position: 7))
        edited.append(start.with(behind: 0))
        #expect(EventChainTests.key.isAuthentic(start))
        for start in edited {
            #expect(
                findings(
                    [events[2]],
                    ChainRecord(start: start, head: record.head, headPosition: record.headPosition)
                )
                .contains(.forgedRecord(node: EventChainTests.node)))
        }
    }

    @Test("O-03 a checkpoint before the chain's start is accepted only after authentic pruning")
    func earlyCheckpoint() throws {
        let (events, record) = try EventChainTests.chain(5)
        let early = try EventChainTests.chain(2).record.head
        let pruned = EventChain.start(
            behind: events[3], pruning: EventChainTests.pruning, key: EventChainTests.key)
        let left = [events[4]]
        #expect(
            findings(
                left,
                ChainRecord(start: pruned, head: record.head, headPosition: record.headPosition),
                checkpoints: [early]) == [])
        let deleted = ChainStart(
            node: pruned.node, sequence: 4, digest: pruned.digest, position: 4, behind: 3,
            pruning: nil, authentication: record.head.authentication)
        #expect(
            try findings(
                left,
                ChainRecord(start: deleted, head: record.head, headPosition: record.headPosition),
                checkpoints: [early]
            ).contains(.checkpoint(node: EventChainTests.node, sequence: 2)))
        // A checkpoint at the start of the chain is also compared.
        let foreign = EventChainTests.key.mark(
            node: EventChainTests.node, sequence: 4, digest: [UInt8](repeating: 1, count: 32))
        #expect(
            try findings(
                left,
                ChainRecord(start: pruned, head: record.head, headPosition: record.headPosition),
                checkpoints: [foreign])
                == [.checkpoint(node: EventChainTests.node, sequence: 4)])
    }

    @Test("O-03 an event moved to a different position is found, even if it was committed alone")
    func moved() throws {
        // An event's position is known once its commit is done: 1 to 3, then 4, then 5 and 6.
        var chain = EventChain(node: EventChainTests.node, key: EventChainTests.key)
        let start = chain.start()
        var events: [ChainedEvent] = []
        for (count, last) in [(3, 3), (1, 4), (2, 6)] {
            for number in (last - count + 1)...last {
                let event = try chain.append(EventChainTests.recorded(number), position: nil)
                events.append(event.at(UInt64(number)))
            }
            chain.stand(at: UInt64(last))
        }
        let record = ChainRecord(start: start, head: chain.head(), headPosition: 6)
        #expect(findings(events, record) == [])
        for index in events.indices {
            for position: UInt64 in [0, 9] {
                var moved = events
                moved[index] = events[index].at(position)
                #expect(!findings(moved, record).isEmpty, "\(index) at \(position)")
            }
        }
        // All events are moved by one position.
        let further = events.map { $0.at($0.position + 1) }
        #expect(!findings(further, record).isEmpty)
    }
}

extension ChainedEvent {
    /// The event at a different position, without a new authentication code.
    fileprivate func at(_ position: UInt64) -> ChainedEvent {
        ChainedEvent(
            position: position, node: node, sequence: sequence, behind: behind, body: body,
            digest: digest, time: time)
    }
}

extension ChainStart {
    /// The start with some fields changed, without a new authentication code.
    fileprivate func with(
        sequence: UInt64? = nil, digest: [UInt8]? = nil, position: UInt64? = nil,
        behind: UInt64? = nil
    ) -> ChainStart {
        ChainStart(
            node: node, sequence: sequence ?? self.sequence, digest: digest ?? self.digest,
            position: position ?? self.position, behind: behind ?? self.behind, pruning: pruning,
            authentication: authentication)
    }

    fileprivate func with(pruning: PrunedEvents?) -> ChainStart {
        ChainStart(
            node: node, sequence: sequence, digest: digest, position: position, behind: behind,
            pruning: pruning, authentication: authentication)
    }
}
