import Testing

@testable import VerificationService

struct AddressLimiterTests {
    private let start = ContinuousClock.now
    private let rate = AddressRate(perSecond: 10, burst: 3)

    private func limiter(capacity: Int = 100) throws -> AddressLimiter {
        AddressLimiter(rate: try #require(rate), capacity: capacity, now: start)
    }

    @Test("V-19 a burst passes, the next request is refused, and the bucket refills over time")
    func bucket() throws {
        let limiter = try limiter()
        for _ in 0..<3 { #expect(limiter.take("192.0.2.1", now: start) == nil) }
        #expect(limiter.take("192.0.2.1", now: start) == 1)
        #expect(limiter.take("192.0.2.2", now: start) == nil)
        #expect(limiter.take("192.0.2.1", now: start + .milliseconds(99)) == 1)
        #expect(limiter.take("192.0.2.1", now: start + .milliseconds(100)) == nil)
        #expect(limiter.take("192.0.2.1", now: start + .milliseconds(100)) == 1)
        // Frequent requests do not prevent the bucket from refilling.
        for step in 101..<200 {
            #expect(limiter.take("192.0.2.1", now: start + .milliseconds(step)) == 1)
        }
        #expect(limiter.take("192.0.2.1", now: start + .milliseconds(200)) == nil)
        // The bucket holds at most the burst, and a clock that steps back adds nothing.
        for _ in 0..<3 { #expect(limiter.take("192.0.2.1", now: start + .seconds(1 << 40)) == nil) }
        #expect(limiter.take("192.0.2.1", now: start + .seconds(1 << 40)) == 1)
        #expect(limiter.take("192.0.2.1", now: start) == 1)
    }

    @Test("V-19 of 200 concurrent requests for 50 tokens, 50 succeed")
    func race() async throws {
        let limiter = AddressLimiter(
            rate: try #require(AddressRate(perSecond: 1, burst: 50)), now: start)
        let start = start
        let through = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 { group.addTask { limiter.take("::1", now: start) == nil } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(through == 50)
    }

    @Test("IPv6 addresses of one /64 share a bucket, and so do both forms of an IPv4 address")
    func networks() throws {
        let limiter = try limiter()
        for host in ["2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::3"] {
            #expect(limiter.take(host, now: start) == nil)
        }
        #expect(limiter.take("2001:db8::4", now: start) == 1)
        #expect(limiter.take("2001:db8:0:1::4", now: start) == nil)
        for address in ["192.0.2.9", "::ffff:192.0.2.9", "::ffff:c000:209"] {
            #expect(limiter.take(address, now: start) == nil)
        }
        #expect(limiter.take("192.0.2.9", now: start) == 1)
    }

    @Test("V-19 the /64 networks of one /48 together have four times the rate of one network")
    func sites() throws {
        let limiter = try limiter()
        var through = 0
        for network in 0..<200 where limiter.take("2001:db8:0:\(network)::1", now: start) == nil {
            through += 1
        }
        #expect(through == 12)
        #expect(limiter.isExhausted("2001:db8:0:ffff::1", now: start))
        #expect(!limiter.isExhausted("2001:db8:1::1", now: start))
        // Networks that are refused get no buckets, so they do not displace others.
        #expect(limiter.count == 12)
        #expect(limiter.take("2001:db8:1::1", now: start) == nil)
        #expect(limiter.take("2001:db8::1", now: start + .milliseconds(24)) == 1)
        #expect(limiter.take("2001:db8::1", now: start + .milliseconds(25)) == nil)
        // One network cannot use up the rate of its site.
        for _ in 0..<100 { _ = limiter.take("2001:db8:2::1", now: start) }
        #expect(limiter.take("2001:db8:2:1::1", now: start) == nil)
    }

    @Test("V-19 changing addresses evades neither the memory limit nor the rate limit")
    func manyAddresses() throws {
        let limiter = try limiter(capacity: 50)
        var through = 0
        for host in 0..<200 where limiter.take("10.0.0.\(host)", now: start) == nil { through += 1 }
        #expect(limiter.count == 50)
        #expect(through == 53)
        // Buckets that have refilled are deleted.
        #expect(limiter.take("10.1.0.1", now: start + .seconds(2)) == nil)
        #expect(limiter.count == 1)
    }

    @Test("all strings that are not addresses share one bucket")
    func noAddress() throws {
        let limiter = try limiter()
        for text in ["", "unix", "\r\n"] { #expect(limiter.take(text, now: start) == nil) }
        #expect(limiter.take("else", now: start) == 1)
    }

    @Test("a rate out of range is rejected", arguments: [(0, 1), (1, 0), (-1, 5), (1_000_001, 1)])
    func rates(_ perSecond: Int, _ burst: Int) {
        #expect(AddressRate(perSecond: perSecond, burst: burst) == nil)
        #expect(AddressRate.standard == AddressRate(perSecond: 100, burst: 1_000))
    }
}
