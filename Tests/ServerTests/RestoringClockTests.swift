import TestSupport
import Testing
import Verification
import VerificationService
import WatchwordSystem

@testable import CommandLineInterface
@testable import ServerCommands

/// Which clocks `restore` accepts.
struct RestoringClockTests {
    private let now = UnixTime(seconds: 1_800_000_000)

    private func clock(
        _ words: [String] = [], at now: UnixTime, _ state: ClockState
    ) throws -> RestoreClock {
        let request = try ArgumentParser<ServerVerb>.parse(["restore"] + words)
        guard case .run(_, let arguments) = request else { throw NotUnderstood() }
        return try RestoreClock(arguments, now: now, state: state)
    }

    @Test("T-10 O-07 only a clock that the kernel reports as synchronised is accepted")
    func kernel() throws {
        let right = try clock(at: now, .synchronized(maximumError: 1_000))
        #expect(right.now == now)
        #expect(!right.isTrusted)
        for state in [
            ClockState.unsynchronized, .unknown, .synchronized(maximumError: 60_000),
        ] {
            let failure = #expect(throws: ServerFailure.self) { try clock(at: now, state) }
            guard case .untrustedClock(now, isPossible: true)? = failure else {
                Issue.record("\(state)")
                continue
            }
        }
    }

    @Test("T-10 O-07 the administrator can confirm a clock, but not one behind the release date")
    func trusted() throws {
        let taken = try clock(["--clock-is-right"], at: now, .unsynchronized)
        #expect(taken.now == now)
        #expect(taken.isTrusted)
        let past = UnixTime(seconds: 0)
        let failure = #expect(throws: ServerFailure.self) {
            try clock(["--clock-is-right"], at: past, .unsynchronized)
        }
        guard case .untrustedClock(past, isPossible: false)? = failure else {
            Issue.record("accepted")
            return
        }
    }

    @Test("T-10 O-07 restore refuses to run with a clock that cannot be trusted")
    func program() async throws {
        let state = try ServerProcess.State()
        let refused = try await state.run("restore", state.folder.file("none"))
        let isSynchronized = SystemClock.isSynchronized() == true
        #expect(refused.status == (isSynchronized ? 3 : 6))
        let words = String(decoding: refused.errors, as: UTF8.self)
        #expect(words.contains("--clock-is-right") == !isSynchronized)
    }

    private struct NotUnderstood: Error {}
}
