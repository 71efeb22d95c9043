import Foundation
import TestSupport
import Testing

@testable import SecretVault

/// The wall clock and the boot clock of a simulated machine.
struct TestClock {
    var wall: Int64 = 1_795_000_000
    var boot: UInt8 = 1
    var uptime: Int64 = 500

    var reading: ClockReading {
        ClockReading(wall: wall, boot: [UInt8](repeating: boot, count: 16), uptime: uptime)
    }

    /// Lets time pass on both clocks.
    mutating func pass(_ seconds: Int64) {
        wall += seconds
        uptime += seconds
    }

    /// Turns the machine off for this long, and boots it again.
    mutating func reboot(off seconds: Int64 = 30) {
        boot += 1
        wall += seconds
        uptime = 5
    }
}

extension LockOutPolicy {
    /// The number of failures in a row that cause the first wait, as an `Int` for loops and ranges.
    static let failuresUntilWait = Int(firstFailureWithWait)
    /// The number of failures in a row that cause the longest wait.
    static let failuresUntilLongestWait = failuresUntilWait + minutes.count - 1
    /// The first, the second and the longest wait in seconds.
    static let firstWait = Int64(wait(after: firstFailureWithWait))
    static let secondWait = Int64(wait(after: firstFailureWithWait + 1))
    static let longestWait = Int64(wait(after: .max))
}

struct FailuresTests {
    private static let waits: [UInt64] = [0, 0, 0, 0, 60, 300, 900, 1800, 3600, 3600, 3600, 3600]

    private func failures(_ count: Int, at clock: TestClock) throws -> Failures {
        var failures: Failures?
        for _ in 0..<count { failures = .adding(to: failures, at: clock.reading) }
        return try #require(failures)
    }

    @Test("the documentation states the waits of the policy")
    func documented() throws {
        let page = try String(
            contentsOf: PackageFolder.root.appending(
                path: "Sources/Vault/SecretVault/Security.md"), encoding: .utf8)
        let first = LockOutPolicy.failuresUntilWait
        let minutes = LockOutPolicy.minutes.map(String.init).joined(separator: ", ")
        let longest = try #require(LockOutPolicy.minutes.last)
        #expect(
            page.contains(
                "The first \(first - 1) failures in a row cause no wait. "
                    + "After the \(first)th and each further one, "
                    + "the next attempt must wait \(minutes), \(longest) … minutes."))
    }

    @Test("four failures cause no wait; each later wait lasts exactly as long as specified")
    func steps() throws {
        for (index, wait) in Self.waits.enumerated() {
            var clock = TestClock()
            let failed = try failures(index + 1, at: clock)
            #expect(failed.count == UInt64(index + 1) && failed.wait == wait)
            guard wait > 0 else { continue }
            #expect(failed.rest(at: clock.reading) == wait)
            clock.pass(Int64(wait) - 1)
            #expect(failed.rest(at: clock.reading) == 1)
            clock.pass(1)
            #expect(failed.rest(at: clock.reading) == 0)
        }
        #expect(LockOutPolicy.wait(after: .max) == 3600)
    }

    @Test(
        "setting the wall clock within one boot has no effect on a wait",
        arguments: LockOutPolicy.failuresUntilWait...LockOutPolicy.failuresUntilLongestWait)
    func clockSet(count: Int) throws {
        for shift: Int64 in [-1_795_000_000, -86_400, -1, 1, 86_400, 1 << 40] {
            var clock = TestClock()
            let failed = try failures(count, at: clock)
            clock.wall += shift
            #expect(failed.rest(at: clock.reading) == failed.wait)
            clock.pass(Int64(failed.wait) - 1)
            #expect(failed.rest(at: clock.reading) == 1)
            clock.pass(1)
            #expect(failed.rest(at: clock.reading) == 0)
        }
    }

    @Test("the wall clock measures a wait across a reboot, to the second")
    func reboot() throws {
        for count in LockOutPolicy.failuresUntilWait...LockOutPolicy.failuresUntilLongestWait {
            var clock = TestClock()
            let failed = try failures(count, at: clock)
            clock.reboot(off: Int64(failed.wait) - 1)
            #expect(failed.rest(at: clock.reading) == 1)
            clock.pass(1)
            #expect(failed.rest(at: clock.reading) == 0)
        }
    }

    @Test("setting the wall clock back across a reboot neither shortens nor extends a wait")
    func rebootSetBack() throws {
        for shift: Int64 in [-1_795_000_000, -86_400, -31] {
            var clock = TestClock()
            let failed = try failures(LockOutPolicy.failuresUntilLongestWait, at: clock)
            clock.reboot()
            clock.wall += shift
            #expect(failed.rest(at: clock.reading) == failed.wait)
            let moved = try #require(failed.moved(to: clock.reading))
            #expect(moved.start.wall == 1_795_000_000 && moved.moved(to: clock.reading) == nil)
            clock.pass(LockOutPolicy.longestWait - 1)
            #expect(moved.rest(at: clock.reading) == 1)
            clock.pass(1)
            #expect(moved.rest(at: clock.reading) == 0)
        }
    }

    @Test("every later outcome keeps the latest time seen, on any clock")
    func latestTime() throws {
        var clock = TestClock()
        let first = Failures.beginning(after: nil, at: clock.reading)
        clock.wall -= 5_000
        let refused = Failures.refusing(in: first, at: clock.reading)
        let second = Failures.beginning(after: refused, at: clock.reading)
        let withdrawn = try #require(second.withdrawing())
        for failures in [first, refused, second, withdrawn] {
            #expect(failures.start.wall == 1_795_000_000)
        }
        // A later time replaces the recorded one.
        clock.wall += 5_001
        #expect(Failures.refusing(in: second, at: clock.reading).start.wall == 1_795_000_001)
        // Therefore, setting the wall clock back before the machine is turned off shortens no wait.
        let locked = try failures(LockOutPolicy.failuresUntilLongestWait, at: clock)
        clock.wall -= 5_000
        let again = Failures.refusing(in: locked, at: clock.reading)
        clock.reboot()
        clock.wall += 4_000
        #expect(again.rest(at: clock.reading) == again.wait)
    }

    @Test("a boot clock that is ahead of the previous boot's does not shorten a wait")
    func longerBoot() throws {
        var clock = TestClock()
        let failed = try failures(LockOutPolicy.failuresUntilLongestWait, at: clock)
        clock.reboot()
        clock.wall = 0
        clock.uptime = 86_400
        #expect(failed.rest(at: clock.reading) == failed.wait)
        #expect(failed.moved(to: clock.reading)?.start.uptime == 86_400)
    }

    @Test("a clock that was briefly far ahead costs at most one wait per boot")
    func glitch() throws {
        var clock = TestClock()
        clock.wall += 1 << 40
        let failed = try failures(LockOutPolicy.failuresUntilWait + 2, at: clock)
        let wait = Int64(failed.wait)
        clock.wall -= 1 << 40
        clock.pass(wait)
        #expect(failed.rest(at: clock.reading) == 0)
        // The same applies if the machine is rebooted before that wait is over.
        for _ in 0..<3 {
            clock.reboot(off: 86_400)
            let moved = try #require(failed.moved(to: clock.reading))
            #expect(moved.rest(at: clock.reading) == failed.wait)
            clock.pass(wait)
            #expect(moved.rest(at: clock.reading) == 0)
        }
    }

    @Test("an untrusted clock does not shorten a wait recorded with a trusted one")
    func unknownBoot() throws {
        var clock = TestClock()
        let failed = try failures(LockOutPolicy.failuresUntilWait, at: clock)
        let wait = LockOutPolicy.firstWait
        clock.pass(wait - 1)
        for uptime: Int64 in [0, 500, 1_000_499] {
            let shifted = ClockReading(wall: clock.wall, boot: nil, uptime: uptime)
            #expect(failed.rest(at: shifted) == failed.wait)
            // From then on, the wall clock measures the wait, regardless of the shifted clock.
            let moved = try #require(failed.moved(to: shifted))
            for next: Int64 in [0, 1_000_000] {
                let later = ClockReading(wall: clock.wall + wait - 1, boot: nil, uptime: next)
                #expect(moved.rest(at: later) == 1)
                #expect(moved.moved(to: later) == nil)
            }
            let end = ClockReading(wall: clock.wall + wait, boot: nil, uptime: 0)
            #expect(moved.rest(at: end) == 0)
            // Once the boot clock can be trusted again, it measures the wait.
            clock.pass(10)
            let back = try #require(moved.moved(to: clock.reading))
            #expect(back.wait == failed.wait - 10 && back.start.boot == clock.reading.boot)
            clock.pass(-10)
        }
    }

    @Test(
        "a wait recorded with a shifted clock does not end sooner on the real clock"
    )
    func shiftedBack() throws {
        let clock = TestClock()
        for uptime: Int64 in [0, 499, 500, 1_000_000] {
            let shifted = ClockReading(wall: clock.wall, boot: nil, uptime: uptime)
            var failed: Failures?
            for _ in 0..<LockOutPolicy.failuresUntilWait {
                failed = .adding(to: failed, at: shifted)
            }
            let waiting = try #require(failed)
            #expect(waiting.rest(at: clock.reading) == waiting.wait && waiting.wait > 0)
        }
    }

    @Test("a glitch in the wall clock does not make a wait endless if it is the only clock")
    func wallClockGlitch() throws {
        let ahead = ClockReading(wall: 1 << 40, boot: nil, uptime: 5)
        var failed: Failures?
        for _ in 0..<LockOutPolicy.failuresUntilWait { failed = .adding(to: failed, at: ahead) }
        let right = ClockReading(wall: 1_795_000_000, boot: nil, uptime: 5)
        let moved = try #require(failed?.moved(to: right))
        #expect(moved.wait == LockOutPolicy.firstWait)
        let end = ClockReading(
            wall: 1_795_000_000 + LockOutPolicy.firstWait, boot: nil, uptime: 5)
        #expect(moved.rest(at: end) == 0)
    }

    @Test("no wait within one boot is longer than its maximum, whatever the clocks do")
    func anyClocks() throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            var clock = TestClock()
            let counts = LockOutPolicy.failuresUntilWait...12
            var failed = try failures(Int.random(in: counts, using: &generator), at: clock)
            let wait = failed.wait
            for _ in 0..<4 {
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: clock.wall = Int64.random(in: -5...Int64.max / 2, using: &generator)
                case 1: clock.reboot(off: 0)
                default: clock.pass(Int64.random(in: 0...4000, using: &generator))
                }
                let rest = failed.rest(at: clock.reading)
                #expect(rest <= wait)
                failed = failed.moved(to: clock.reading) ?? failed
                #expect(failed.rest(at: clock.reading) == rest)
            }
            clock.pass(Int64(wait))
            #expect(failed.rest(at: clock.reading) == 0)
        }
    }

    @Test("an attempt that is begun, refused or withdrawn keeps the latest time seen")
    func laterAttempts() throws {
        var clock = TestClock()
        let failed = try failures(LockOutPolicy.failuresUntilWait, at: clock)
        clock.pass(LockOutPolicy.firstWait)
        clock.wall -= 86_400
        let begun = Failures.beginning(after: failed, at: clock.reading)
        #expect(begun.start.wall == failed.start.wall)
        #expect(Failures.refusing(in: begun, at: clock.reading).start.wall == failed.start.wall)
        #expect(begun.withdrawing()?.start.wall == failed.start.wall)
    }

    @Test("a boot clock that is behind its last reading belongs to another boot")
    func earlierBootClock() throws {
        let clock = TestClock()
        let failed = try failures(LockOutPolicy.failuresUntilWait, at: clock)
        let now = clock.reading
        let earlier = ClockReading(
            wall: clock.wall + 20, boot: now.boot, uptime: clock.uptime - 1)
        #expect(failed.rest(at: earlier) == failed.wait - 20)
        #expect(failed.moved(to: earlier)?.wait == failed.wait - 20)
    }

    @Test("an undecided attempt costs the same wait as a refused one, but is not a refusal")
    func undecided() throws {
        let clock = TestClock()
        var failed: Failures?
        for count: UInt64 in 1...9 {
            let begun = Failures.beginning(after: failed, at: clock.reading)
            #expect(begun.refused == 0 && begun.undecided == count)
            #expect(begun.wait == LockOutPolicy.wait(after: count))
            let refused = Failures.refusing(in: begun, at: clock.reading)
            #expect(refused.refused == 1 && refused.undecided == count - 1)
            #expect(refused.wait == begun.wait)
            failed = begun
        }
        // A refusal counts even if another process's success has cleared the count since it began.
        let alone = Failures.refusing(in: nil, at: clock.reading)
        #expect(alone.refused == 1 && alone.undecided == 0)
    }

    @Test("a withdrawn attempt is removed, and refused ones stay")
    func withdrawn() throws {
        let clock = TestClock()
        let first = Failures.beginning(after: nil, at: clock.reading)
        #expect(first.withdrawing() == nil)
        let refused = try failures(LockOutPolicy.failuresUntilWait, at: clock)
        #expect(refused.withdrawing() == refused)
        let begun = Failures.beginning(after: refused, at: clock.reading)
        let left = try #require(begun.withdrawing())
        #expect(left == refused)
    }

    @Test("a count at its maximum stays there")
    func end() {
        let last = Failures(
            refused: VaultLimits.number, undecided: VaultLimits.number, wait: 0,
            start: ClockReading(seen: 0, boot: TestClock().reading.boot, uptime: 0))
        let next = Failures.adding(to: last, at: TestClock().reading)
        #expect(next.refused == VaultLimits.number && next.undecided == VaultLimits.number - 1)
    }
}

extension Failures {
    /// Adds a refused attempt to `counted`.
    static func adding(to counted: Failures?, at now: ClockReading) -> Failures {
        .refusing(in: .beginning(after: counted, at: now), at: now)
    }
}

extension Attempts {
    /// Adds a refused attempt at `subject`, by a file with these slots.
    mutating func addRefusal(of subject: Subject, by slots: SlotsDigest, at now: ClockReading) {
        self[subject] = .beginning(after: self[subject], at: now)
        self = deciding(subject, .refused(by: slots), at: now)
    }
}
