import Testing
import WatchwordSystem

struct MomentTests {
    @Test("moments are read from the boot clock")
    func clock() {
        let before = SystemClock.bootTime()
        let now = Moment.now.sinceStart
        #expect((before...SystemClock.bootTime()).contains(now.components.seconds))
    }

    @Test("moments are ordered, and no time remains until a moment that has passed")
    func order() {
        let now = Moment.now
        #expect(now < now + .nanoseconds(1))
        #expect(!(now + .nanoseconds(1) < now))
        #expect(now.timeRemaining == .zero)
        #expect((now + .seconds(-9)).timeRemaining == .zero)
    }

    @Test("the remaining time shrinks as time passes")
    func ahead() {
        let ahead = (Moment.now + .seconds(3_600)).timeRemaining
        #expect(ahead > .seconds(3_500))
        #expect(ahead <= .seconds(3_600))
    }

    @Test(
        "a duration is rounded up to whole milliseconds, and limited to poll's longest timeout",
        arguments: [
            (Duration.zero, 0), (.seconds(-9), 0), (.nanoseconds(-1), 0), (.nanoseconds(1), 1),
            (.milliseconds(1), 1), (.milliseconds(1) + .nanoseconds(1), 2),
            (.seconds(1) - .nanoseconds(1), 1_000), (.seconds(3_600), 3_600_000),
            (.milliseconds(Int32.max), .max), (.milliseconds(Int32.max) + .nanoseconds(1), .max),
            (.seconds(1 << 40), .max), (.seconds(Int64.max), .max),
        ] as [(Duration, Int32)])
    func milliseconds(_ duration: Duration, _ expected: Int32) {
        #expect(duration.millisecondsRoundedUp == expected)
    }
}
