import POSIX
import Testing

struct MomentTests {
    @Test("moments are told by the clock that counts from the kernel's start")
    func clock() {
        let before = SystemClock.bootTime()
        let now = Moment.now.sinceStart
        #expect((before...SystemClock.bootTime()).contains(now.components.seconds))
    }

    @Test("a later moment comes after an earlier one, and what is over is no milliseconds ahead")
    func order() {
        let now = Moment.now
        #expect(now < now + .nanoseconds(1))
        #expect(!(now + .nanoseconds(1) < now))
        #expect(now.millisecondsAhead == 0)
        #expect((now + .seconds(-9)).millisecondsAhead == 0)
    }

    @Test("what is ahead is told in milliseconds, rounded up, as far as they can be counted")
    func ahead() {
        let hour = (Moment.now + .seconds(3_600)).millisecondsAhead
        #expect((1...3_600_001).contains(hour))
        #expect((Moment.now + .seconds(1 << 40)).millisecondsAhead == .max)
    }
}
