import Testing

@testable import LocalSockets

struct OwnNameLimiterTests {
    private let start = ContinuousClock.now

    @Test("a user has three attempts without a wait, and one more each minute")
    func rate() {
        let limiter = OwnNameLimiter.ofAttempts()
        for _ in 0..<3 { #expect(limiter.take(1_000, now: start) == nil) }
        #expect(limiter.take(1_000, now: start) == 60)
        #expect(limiter.take(1_000, now: start + .milliseconds(59_500)) == 1)
        #expect(limiter.take(1_000, now: start + .seconds(60)) == nil)
        #expect(limiter.take(1_000, now: start + .seconds(60)) == 60)
    }

    @Test("each user has a separate limit")
    func users() {
        let limiter = OwnNameLimiter.ofAttempts()
        for _ in 0..<3 { #expect(limiter.take(1_000, now: start) == nil) }
        #expect(limiter.take(1_000, now: start) != nil)
        #expect(limiter.take(1_001, now: start) == nil)
    }

    @Test("an attempt that is given back can be used again, but never exceeds the limit")
    func givingBack() {
        let limiter = OwnNameLimiter.ofAttempts()
        for _ in 0..<100 {
            #expect(limiter.take(1_000, now: start) == nil)
            limiter.giveBack(1_000)
        }
        for _ in 0..<3 { #expect(limiter.take(1_000, now: start) == nil) }
        #expect(limiter.take(1_000, now: start) == 60)
        limiter.giveBack(1_001)
        for _ in 0..<3 { #expect(limiter.take(1_001, now: start) == nil) }
        #expect(limiter.take(1_001, now: start) == 60)
    }

    @Test("many users neither fill the memory nor evade the limit")
    func capacity() {
        let limiter = OwnNameLimiter.ofAttempts()
        let most = UInt32(OwnNameLimiter.capacity)
        for user in 0..<most { #expect(limiter.take(user, now: start) == nil) }
        #expect(limiter.take(most, now: start) == 60)
        #expect(limiter.take(0, now: start) == nil)
        #expect(limiter.count == OwnNameLimiter.capacity)
        // Two attempts of the first user must be restored, and one attempt of each other user.
        #expect(limiter.take(most, now: start + .seconds(61)) == nil)
        #expect(limiter.count == 2)
    }
}
