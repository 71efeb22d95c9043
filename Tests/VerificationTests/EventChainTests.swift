import Cryptography
import TestSupport
import Testing

@testable import Verification

@Suite("EventChain")
struct EventChainTests {
    static let key = AuditKey(
        events: SecretBytes(text: "an audit key of these tests only"),
        rows: SecretBytes(text: "a row key of these tests only"))
    static let node = [UInt8](repeating: 7, count: 16)

    /// A chain of `count` events and the record of its ends.
    static func chain(_ count: Int) throws -> (events: [ChainedEvent], record: ChainRecord) {
        var chain = EventChain(node: node, key: key)
        let start = try chain.head()
        let events = try (0..<count).map { index in
            try chain.append(event(index), position: UInt64(index + 1))
        }
        return (events, ChainRecord(start: start, head: try chain.head()))
    }

    static func event(_ index: Int) throws -> Event {
        let id = try #require(CredentialID(bytes: [UInt8](repeating: UInt8(index), count: 16)))
        return Event(
            .denied, reason: .wrong, time: UnixTime(seconds: Int64(index)),
            subject: Subject("alice\r\n{\"kind\":\"accepted\"}"), credential: id,
            verification: VerificationID(bytes: id.bytes),
            origin: Origin(address: "::1", userAgent: "a\nb"), number: -1)
    }

    private func findings(
        _ events: [ChainedEvent], _ record: ChainRecord, checkpoints: [ChainMark] = []
    ) throws -> [AuditTrail.Finding] {
        var trail = try AuditTrail(
            chains: [record], checkpoints: checkpoints, key: EventChainTests.key)
        for event in events { try trail.check(event) }
        return trail.findings()
    }

    @Test("V-30 an untouched chain has no findings, whatever stands in its texts")
    func untouched() throws {
        let (events, record) = try EventChainTests.chain(5)
        #expect(try findings(events, record) == [])
        for (index, event) in events.enumerated() {
            #expect(event.event == (try EventChainTests.event(index)))
        }
    }

    @Test("V-30 each deletion is found, at the beginning, in the middle and at the end")
    func deletion() throws {
        let (events, record) = try EventChainTests.chain(4)
        for index in events.indices {
            var left = events
            left.remove(at: index)
            #expect(try !findings(left, record).isEmpty, "event \(index)")
        }
        #expect(
            try findings(Array(events.dropLast()), record)
                == [.cutOff(node: EventChainTests.node, behind: 3)])
    }

    @Test("V-30 each edit is found, byte by byte")
    func edit() throws {
        let (events, record) = try EventChainTests.chain(3)
        let body = events[1].body
        for index in body.indices {
            var spoiled = body
            spoiled[index] ^= 1
            var edited = events
            edited[1] = ChainedEvent(
                position: 2, node: events[1].node, sequence: 2, body: spoiled,
                digest: events[1].digest, time: events[1].time)
            #expect(try !findings(edited, record).isEmpty, "byte \(index)")
        }
    }

    @Test("V-30 an event of another history of the same node is found, though it is authentic")
    func mixed() throws {
        let (events, record) = try EventChainTests.chain(3)
        var other = EventChain(node: EventChainTests.node, key: EventChainTests.key)
        _ = try other.append(EventChainTests.event(8), position: 1)
        let foreign = try other.append(EventChainTests.event(9), position: 2)
        #expect(try !findings([events[0], foreign, events[2]], record).isEmpty)
    }

    @Test("V-30 a moved column of time is found, since pruning goes by it")
    func editedTime() throws {
        let (events, record) = try EventChainTests.chain(1)
        let edited = ChainedEvent(
            position: 1, node: events[0].node, sequence: 1, body: events[0].body,
            digest: events[0].digest, time: UnixTime(seconds: 99))
        #expect(
            try findings([edited], record)
                == [.altered(node: EventChainTests.node, sequence: 1)])
    }

    @Test("V-30 a swap and a doubled event are found")
    func reordering() throws {
        let (events, record) = try EventChainTests.chain(3)
        #expect(try !findings([events[0], events[2], events[1]], record).isEmpty)
        #expect(try !findings([events[0], events[1], events[1], events[2]], record).isEmpty)
    }

    @Test("V-30 a chain made anew by somebody without the key is found")
    func otherKey() throws {
        let (_, record) = try EventChainTests.chain(2)
        var forged = EventChain(
            node: EventChainTests.node,
            key: AuditKey(
                events: SecretBytes(text: "another"), rows: SecretBytes(text: "another")))
        let events = try (0..<2).map { index in
            try forged.append(EventChainTests.event(index + 5), position: UInt64(index + 1))
        }
        #expect(try !findings(events, record).isEmpty)
        let forgedRecord = ChainRecord(start: record.start, head: try forged.head())
        #expect(
            try findings(events, forgedRecord).contains(
                .forgedRecord(node: EventChainTests.node)))
    }

    @Test("V-30 an older end put back together with its events is found by a mark kept elsewhere")
    func checkpoint() throws {
        let (events, late) = try EventChainTests.chain(4)
        let (_, early) = try EventChainTests.chain(2)
        let cut = Array(events.prefix(2))
        #expect(try findings(cut, early) == [])
        #expect(
            try findings(cut, early, checkpoints: [late.head])
                == [.checkpoint(node: EventChainTests.node, sequence: 4)])
        #expect(try findings(events, late, checkpoints: [early.head, late.head]) == [])
    }

    @Test("what was pruned at the beginning is no finding, what was deleted behind it is")
    func pruning() throws {
        let (events, record) = try EventChainTests.chain(5)
        let start = try EventChain.start(behind: events[1], key: EventChainTests.key)
        let pruned = ChainRecord(start: start, head: record.head)
        #expect(try findings(Array(events[2...]), pruned) == [])
        #expect(try !findings(Array(events[3...]), pruned).isEmpty)
    }

    @Test("a chain goes on behind its stored head as if it had never stopped")
    func resuming() throws {
        let (events, record) = try EventChainTests.chain(2)
        var chain = EventChain(resuming: record.head, key: EventChainTests.key)
        let next = try chain.append(EventChainTests.event(9), position: 3)
        let longer = ChainRecord(start: record.start, head: try chain.head())
        #expect(try findings(events + [next], longer) == [])
    }

    @Test("a node that nobody knows is found")
    func unknownNode() throws {
        let (events, _) = try EventChainTests.chain(1)
        var trail = try AuditTrail(chains: [], key: EventChainTests.key)
        try trail.check(events[0])
        #expect(trail.findings() == [.unknownNode(EventChainTests.node)])
    }
}
