import Testing

@testable import HTTPListener

// The registry of connections, without sockets.
extension LimitsTests {
    @Test("the registry limits the total number of connections")
    func registryLimit() {
        let registry = ConnectionRegistry(limit: 2, limitPerOrigin: 5, start: .now)
        let records = (0..<2).map { _ in record() }
        registry.add(records[0], until: .now)
        #expect(registry.accepts(.unknown))
        registry.add(records[1], until: .now)
        // The handler is working on both requests.
        for record in records { registry.setDeadline(nil, of: record) }
        #expect(!registry.accepts(.unknown))
        registry.remove(records[0])
        #expect(registry.accepts(.unknown))
    }

    @Test("a new connection replaces the longest-waiting connection of the busiest site")
    func replacing() {
        let now = ContinuousClock.now
        let registry = ConnectionRegistry(limit: 16, limitPerOrigin: 20, start: now)
        // The three sites have six connections (the first has a request), five connections, and one
        // connection.
        let records = [
            record(peer(1), hasRequest: true), record(peer(1)), record(peer(1)), record(peer(1)),
            record(peer(1)), record(peer(1, network: 2)), record(peer(2)), record(peer(2)),
            record(peer(2)), record(peer(2)), record(peer(2)), record(peer(3)),
        ]
        for (index, record) in records.enumerated() {
            #expect(registry.accepts(record.peer))
            registry.add(record, until: now + .seconds(index == 3 ? 1 : 2 + index))
        }
        #expect(replaced(records) == [])
        for expected in [[3], [1, 3], [1, 3, 6], [1, 2, 3, 6]] {
            #expect(registry.accepts(peer(4)))
            #expect(replaced(records) == expected)
            registry.add(record(peer(4)), until: now + .seconds(60))
        }
        // Replaced connections count until they are closed, so that the limit is never exceeded.
        #expect(registry.count == 16)
        #expect(!registry.accepts(peer(4)))
        registry.remove(records[3])
        #expect(registry.accepts(peer(4)))
    }

    @Test("connections from trusted addresses are replaced last, and only by each other")
    func trusted() {
        let now = ContinuousClock.now
        let registry = ConnectionRegistry(limit: 16, limitPerOrigin: 20, start: now)
        let records = (0..<15).map { record(peer($0 < 13 ? 1 : 2)) }
        for record in records {
            #expect(registry.accepts(record.peer))
            registry.add(record, until: now + .seconds(1 + registry.count))
            registry.trust(record)
        }
        #expect(!registry.accepts(peer(3)))
        registry.remove(records[14])
        let stranger = record(peer(3))
        registry.add(stranger, until: now + .seconds(9))
        #expect(registry.accepts(peer(2)))
        #expect(replaced(records) == [] && replaced([stranger]) == [0])
        registry.remove(stranger)
        registry.add(record(peer(2)), until: now + .seconds(9))
        #expect(!registry.accepts(peer(3)))
        #expect(registry.accepts(peer(2)))
        #expect(replaced(records) == [0])
    }

    @Test("the networks of an IPv6 /48 together may have four times the connections of one network")
    func sites() {
        let registry = ConnectionRegistry(limit: 100, limitPerOrigin: 2, start: .now)
        var count = 0
        for network in UInt8(0)..<20 {
            for _ in 0..<5 where registry.accepts(peer(1, network: network)) {
                registry.add(record(peer(1, network: network)), until: .now)
                count += 1
            }
        }
        #expect(count == 8)
        #expect(registry.accepts(peer(2)))
        // These connections do not keep out an address that sent an authenticated request.
        let known = record(peer(1, network: 99))
        registry.add(known, until: .now)
        registry.trust(known)
        #expect(registry.accepts(peer(1, network: 99)))
        #expect(!registry.accepts(peer(1, network: 98)))
    }

    @Test("a trusted proxy may have any number of connections")
    func proxies() {
        let proxy = peer(1)
        let registry = ConnectionRegistry(
            limit: 100, limitPerOrigin: 2, isProxy: { $0 == proxy.text }, start: .now)
        for _ in 0..<9 {
            #expect(registry.accepts(proxy))
            registry.add(record(proxy), until: .now)
        }
    }

    @Test("a site loses no connection while another site has twice as many")
    func enough() {
        let now = ContinuousClock.now
        // Two connections can be replaced at once.
        let registry = ConnectionRegistry(limit: 128, limitPerOrigin: 128, start: now)
        let records = (0..<90).map { record(peer($0 < 60 ? 1 : 2)) }
        for (index, record) in records.enumerated() {
            registry.add(record, until: now + .seconds(60))
            if (1..<60).contains(index) { registry.setDeadline(nil, of: record) }
        }
        #expect(registry.accepts(peer(3)))
        #expect(replaced(records) == Array(0..<60))
    }

    @Test("the last 1,024 addresses that sent an authenticated request are trusted")
    func trustedAddresses() {
        let registry = ConnectionRegistry(limit: 16, limitPerOrigin: 20, start: .now)
        func origin(_ number: Int) -> PeerAddress {
            peer(UInt8(number / 256), network: UInt8(number % 256))
        }
        for number in 0...1_024 {
            let record = record(origin(number))
            registry.add(record, until: .now)
            registry.trust(record)
            registry.remove(record)
        }
        for number in 0..<12 {
            let record = record(peer(UInt8(100 + number)))
            registry.add(record, until: .now)
            registry.setDeadline(nil, of: record)
        }
        #expect(!registry.accepts(origin(0)))
        #expect(registry.accepts(origin(1)))
        #expect(registry.accepts(origin(1_024)))
    }

    @Test("the registry closes connections at their deadline, and limits their number per origin")
    func registry() throws {
        let now = ContinuousClock.now
        let registry = ConnectionRegistry(limit: 2, limitPerOrigin: 1, start: now)
        let record = record()
        #expect(registry.accepts(.unknown))
        registry.add(record, until: now)
        #expect(!registry.accepts(.unknown))
        #expect(registry.cutOff(at: now - .nanoseconds(1)) == 0)
        #expect(registry.cutOff(at: now) == 1)
        #expect(registry.cutOff(at: now + .seconds(1)) == 0)
        registry.setDeadline(now + .seconds(2), of: record)
        registry.setDeadline(nil, of: record)
        #expect(registry.cutOff(at: now + .seconds(3)) == 0)
        registry.remove(record)
        registry.remove(record)
        #expect(registry.accepts(.unknown))
        #expect(registry.count == 0)
    }
}

extension ConnectionRegistry {
    fileprivate convenience init(
        limit: Int, limitPerOrigin: Int,
        isProxy: @escaping @Sendable (String) -> Bool = { _ in false },
        start: ContinuousClock.Instant
    ) {
        var limits = ListenerLimits()
        limits.connections = limit
        limits.connectionsPerAddress = limitPerOrigin
        limits.isProxy = isProxy
        self.init(limits) { start }
    }
}
