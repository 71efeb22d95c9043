import TestSupport

@testable import SecretVault

/// A model of attempts at one vault while clocks jump, the machine reboots, and programs run in
/// time namespaces.
struct ClockMachine: StateMachine {
    struct State {
        var failures: Failures?
        var clock = TestClock()
        /// The true time, and the true time when the last attempt began.
        var now: Int64 = 0
        var last: Int64?
        /// Attempts since the last success.
        var count: UInt64 = 0
        /// How far the wall clock was set ahead since the last attempt, and whether the boot clock
        /// lost the time since then.
        ///
        /// Only both together can shorten a wait.
        var ahead: Int64 = 0
        var isBlind = false
        var fault: String?
    }

    /// `passHalfOfFirst` lets half of the first wait pass; `passFirst` and `passSecond` let the
    /// first and the second wait pass.
    enum Action: String, CustomStringConvertible, CaseIterable {
        case refused, killed, opened
        case refusedInNamespace, lookInNamespace
        case passHalfOfFirst, passFirst, passSecond
        case setAhead, setBack, reboot

        var description: String { rawValue }
    }

    var initialStates: [State] {
        var states: [State] = []
        let lasts = [LockOutPolicy.failuresUntilWait, LockOutPolicy.failuresUntilLongestWait]
        for count in [0] + lasts.map({ $0 - 1 }) {
            var state = State()
            for _ in 0..<count {
                state.failures = .adding(to: state.failures, at: state.clock.reading)
            }
            // The condition that the wait after the last attempt is over.
            state.clock.pass(LockOutPolicy.longestWait)
            state.now = LockOutPolicy.longestWait
            state.last = count > 0 ? 0 : nil
            state.count = UInt64(count)
            states.append(state)
        }
        return states
    }

    private static let slots = SlotsDigest([UInt8](repeating: 1, count: 32))

    func actions(in state: State) -> [Action] { Action.allCases }

    func apply(_ action: Action, to state: State) -> State {
        var next = state
        let reading = state.clock.reading
        let shifted = ClockReading(wall: state.clock.wall, boot: nil, uptime: 1 << 40)
        switch action {
        case .refused: attempt(.refused(by: Self.slots), at: reading, &next)
        case .killed: attempt(nil, at: reading, &next)
        case .opened: attempt(.opened, at: reading, &next)
        case .refusedInNamespace: attempt(.refused(by: Self.slots), at: shifted, &next)
        case .lookInNamespace: attempt(.notMade(before: nil, with: nil), at: shifted, &next)
        case .passHalfOfFirst: pass(LockOutPolicy.firstWait / 2, &next)
        case .passFirst: pass(LockOutPolicy.firstWait, &next)
        case .passSecond: pass(LockOutPolicy.secondWait, &next)
        case .setAhead:
            next.clock.wall += 86_400
            next.ahead += 86_400
        case .setBack:
            next.clock.wall -= 86_400
            next.ahead = max(next.ahead - 86_400, 0)
        case .reboot:
            next.clock.reboot(off: 0)
            next.isBlind = true
        }
        return next
    }

    private func pass(_ seconds: Int64, _ state: inout State) {
        state.clock.pass(seconds)
        state.now += seconds
    }

    private func attempt(
        _ outcome: Attempts.Outcome?, at reading: ClockReading, _ state: inout State
    ) {
        var attempts = Attempts(of: [UInt8](repeating: 7, count: 16))
        attempts.vault = state.failures
        if !reading.isBootKnown { state.isBlind = true }
        switch attempts.admission(of: .vault, at: reading) {
        case .full: state.fault = "the file has no room for the vault"
        case .wait(let rest, let moved):
            if rest > LockOutPolicy.wait(after: state.count) {
                state.fault = "a wait became longer"
            }
            state.failures = moved.vault
        case .begun(let begun):
            check(&state)
            if case .notMade? = outcome {
                let undone = Attempts.Outcome.notMade(before: attempts.vault, with: begun.vault)
                state.failures = begun.deciding(.vault, undone, at: reading).vault
                return
            }
            state.count += 1
            (state.last, state.ahead, state.isBlind) = (state.now, 0, !reading.isBootKnown)
            switch outcome {
            case nil: state.failures = begun.vault
            case .some(let outcome):
                state.failures = begun.deciding(.vault, outcome, at: reading).vault
                if case .opened = outcome { (state.count, state.last) = (0, nil) }
            }
        }
    }

    private func check(_ state: inout State) {
        guard let last = state.last, state.ahead == 0 || !state.isBlind else { return }
        if state.now - last < Int64(LockOutPolicy.wait(after: state.count)) {
            state.fault =
                "an attempt was admitted \(state.now - last) s after \(state.count) others"
        }
    }

    func violation(in state: State) -> String? {
        if let fault = state.fault { return fault }
        // After the longest possible wait, an attempt is admitted, regardless of the earlier clock
        // readings.
        guard let failures = state.failures else { return nil }
        for isBootKnown in [true, false] {
            var clock = state.clock
            func reading() -> ClockReading {
                ClockReading(
                    wall: clock.wall, boot: isBootKnown ? clock.reading.boot : nil,
                    uptime: clock.uptime)
            }
            let moved = failures.moved(to: reading()) ?? failures
            clock.pass(Int64(LockOutPolicy.wait(after: state.count)))
            if moved.rest(at: reading()) > 0 { return "a wait does not end" }
        }
        return nil
    }

    /// Compares times relative to the present.
    func key(of state: State) -> [Int64?] {
        var key: [Int64?] = [Int64(state.count), state.ahead]
        key.append(state.last.map { min(state.now - $0, LockOutPolicy.longestWait + 400) })
        key.append(state.isBlind ? 1 : 0)
        key.append(state.fault == nil ? 0 : 1)
        guard let failures = state.failures else { return key }
        let reading = state.clock.reading
        key.append(Int64(failures.refused))
        key.append(Int64(failures.undecided))
        key.append(Int64(failures.wait))
        key.append(Int64(failures.start.wall) - state.clock.wall)
        key.append(failures.start.isBootKnown ? 1 : 0)
        let isSame = failures.start.boot == reading.boot
        key.append(isSame ? Int64(failures.start.uptime) - state.clock.uptime : nil)
        return key
    }
}
