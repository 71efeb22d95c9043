import TestSupport

@testable import SecretVault

/// A model of two programs that use a vault with one record; each may be killed at any step.
///
/// A step is one change to the disk or to a lock that another program can see. The order of the
/// steps is that of `VaultOpening.slot(passphrase:ceiling:)` and `UnlockedVault.prove(…)`; the
/// vault's own code makes the decisions. A torn write leaves the previous slot valid, so it has the
/// same effect as a kill before the step.
struct AttemptMachine: StateMachine {
    let onFailure: AccessControl.OnFailure
    let starts: Int

    enum Goal: String {
        case vault, record
        /// An older copy of the vault with different slots, which does not contain the record yet.
        case copy
    }

    enum Answer: String, CaseIterable {
        case yes, no
        /// No check was made.
        case notMade
        /// The check was cancelled, perhaps after a guess was tried.
        case brokenOff
    }

    enum Stage: Int { case purging, saving, purgingAgain, settling }

    enum Program: Hashable {
        case idle
        /// The program holds the attempts lock, and has written nothing yet.
        case entering(Goal)
        /// The program holds the lock, and has made the wipes that were due.
        case admitted(Goal)
        case wiping(Goal, Stage, isRefused: Bool)
        case trying(Goal, before: Failures?, with: Failures?)
        case answered(Goal, Answer, before: Failures?, with: Failures?)
        /// The program holds the lock, and has recorded the refusal.
        case refused(Goal)
    }

    struct State {
        var attempts: Attempts
        var isWiped = false
        /// Whether the previous generation contains the secret.
        var isInPrevious = true
        var programs = [Program.idle, .idle]
        /// The program that holds the attempts lock, and the programs that run a check.
        var counter: Int?
        var asked: Set<Int> = []
        var clock = TestClock()
        var starts: Int
        /// The numbers of the vault include those of the copy, which are also counted separately.
        var truths = [Goal.vault: Truth(), .record: Truth(), .copy: Truth()]
        var fault: String?

        /// The failed checks and the reported refusals that count towards a wipe.
        var checked: UInt64 { self[.vault].checked - self[.copy].checked + self[.record].checked }
        var told: UInt64 { self[.vault].told - self[.copy].told + self[.record].told }

        subscript(goal: Goal) -> Truth {
            get { truths[goal] ?? Truth() }
            set { truths[goal] = newValue }
        }
    }

    enum Action: CustomStringConvertible {
        case start(Int, Goal)
        case step(Int)
        case answer(Int, Answer)
        case kill(Int)
        case pass

        var description: String {
            switch self {
            case .start(let program, let goal): "start \(program) \(goal)"
            case .step(let program): "step \(program)"
            case .answer(let program, let answer): "answer \(program) \(answer)"
            case .kill(let program): "kill \(program)"
            case .pass: "pass"
            }
        }
    }

    var line: RecordLine {
        RecordLine(
            id: RecordID([UInt8](repeating: 1, count: 16).span), revision: 1,
            accessControl: AccessControl(presence: .perUse(.any), onFailure: onFailure))
    }

    private func subject(_ goal: Goal) -> Attempts.Subject {
        goal == .record ? line.subject : .vault
    }

    private static let slots = SlotsDigest([UInt8](repeating: 1, count: 32))
    private static let olderSlots = SlotsDigest([UInt8](repeating: 2, count: 32))

    private func slots(_ goal: Goal) -> SlotsDigest {
        goal == .copy ? Self.olderSlots : Self.slots
    }

    private func isDue(_ state: State) -> Bool { state.attempts.isDue(line, by: Self.slots) }

    /// The initial counts: none, or so many attempts of one kind that the next one costs a wait.
    var initialStates: [State] {
        let fresh = State(attempts: Attempts(of: [UInt8](repeating: 7, count: 16)), starts: starts)
        var states = [fresh]
        let count = LockOutPolicy.firstFailureWithWait - 1
        for goal in [Goal.vault, .record] {
            for isRefused in [true, false] {
                if isRefused, case .wipe = onFailure { continue }
                var state = fresh
                for _ in 0..<count {
                    if isRefused {
                        state.attempts.addRefusal(
                            of: subject(goal), by: Self.slots, at: state.clock.reading)
                    } else {
                        state.attempts[subject(goal)] = .beginning(
                            after: state.attempts[subject(goal)], at: state.clock.reading)
                    }
                }
                let answers: UInt64 = isRefused ? count : 0
                state[goal] = Truth(begun: count, owed: count, checked: answers, told: answers)
                states.append(state)
            }
        }
        return states
    }

    func actions(in state: State) -> [Action] {
        var actions: [Action] = []
        for (number, program) in state.programs.enumerated() {
            switch program {
            case .idle:
                guard state.starts > 0, state.counter == nil else { continue }
                actions += [Goal.vault, .record, .copy].map { .start(number, $0) }
                continue
            case .trying(let goal, _, _):
                let all = Answer.allCases.filter { goal == .record || $0 != .brokenOff }
                actions += all.map { .answer(number, $0) }
            case .answered(.record, _, _, _):
                if state.counter == nil { actions.append(.step(number)) }
            default: actions.append(.step(number))
            }
            actions.append(.kill(number))
        }
        let now = state.clock.reading
        let subjects = [Attempts.Subject.vault, line.subject]
        if subjects.contains(where: { state.attempts[$0]?.rest(at: now) ?? 0 > 0 }) {
            actions.append(.pass)
        }
        return actions
    }

    func apply(_ action: Action, to state: State) -> State {
        var next = state
        switch action {
        case .start(let number, let goal):
            next.starts -= 1
            next.counter = number
            next.programs[number] = .entering(goal)
        case .answer(let number, let answer): take(answer, by: number, in: &next)
        case .step(let number): step(number, in: &next)
        case .kill(let number): end(number, in: &next)
        case .pass:
            next.clock.pass(LockOutPolicy.longestWait)
            for goal in [Goal.vault, .record] { next[goal].mayHaveWaited = true }
        }
        return next
    }

    private func end(_ number: Int, in state: inout State) {
        state.programs[number] = .idle
        state.asked.remove(number)
        if state.counter == number { state.counter = nil }
    }

    private func take(_ answer: Answer, by number: Int, in state: inout State) {
        guard case .trying(let goal, let before, let with) = state.programs[number] else { return }
        if answer == .no { count(goal, in: &state) { $0.checked += 1 } }
        if case .wipe(let limit) = onFailure, goal != .copy, state.told >= UInt64(limit.value),
            !state.isWiped
        {
            state.fault = "a check runs after the limit of refusals was reached"
        }
        let others = state.programs.enumerated().filter { $0.offset != number }
        let beside = others.count { $0.element.isRefusedAtRecord }
        if goal == .record, case .wipe(let limit) = onFailure, !state.isWiped,
            state.told + UInt64(beside) >= UInt64(limit.value)
        {
            state.fault = "a check runs at the same time as the last allowed refusal"
        }
        state.programs[number] = .answered(goal, answer, before: before, with: with)
    }

    private func step(_ number: Int, in state: inout State) {
        switch state.programs[number] {
        case .idle, .trying: break
        case .entering(let goal):
            if goal != .copy, isDue(state) {
                state.programs[number] = .wiping(goal, .purging, isRefused: false)
            } else {
                begin(goal, number, in: &state)
            }
        case .admitted(let goal): begin(goal, number, in: &state)
        case .wiping(let goal, let stage, let isRefused):
            wipe(stage, in: &state)
            guard let after = Stage(rawValue: stage.rawValue + 1) else {
                guard isRefused else {
                    state.programs[number] = .admitted(goal)
                    return
                }
                return tell(goal, number, in: &state)
            }
            state.programs[number] = .wiping(goal, after, isRefused: isRefused)
        case .answered(let goal, let answer, let before, let with):
            decide(goal, answer, before, with, number, in: &state)
        case .refused(let goal):
            if goal != .copy, isDue(state) {
                state.programs[number] = .wiping(goal, .purging, isRefused: true)
            } else {
                tell(goal, number, in: &state)
            }
        }
    }

    private func begin(_ goal: Goal, _ number: Int, in state: inout State) {
        if goal == .record {
            guard !state.isWiped else { return end(number, in: &state) }
            guard !state.attempts.mayBecomeDue(line, by: Self.slots) || state.asked.isEmpty else {
                return end(number, in: &state)
            }
        }
        let before = state.attempts[subject(goal)]
        switch state.attempts.admission(of: subject(goal), at: state.clock.reading) {
        case .full: state.fault = "the file has no room for one record"
        case .wait(_, let moved):
            if state[shared(goal)].begun < LockOutPolicy.firstFailureWithWait {
                state.fault = "locked out after too few attempts"
            }
            state.attempts = moved
            end(number, in: &state)
        case .begun(let begun):
            let truth = state[shared(goal)]
            if truth.owed >= LockOutPolicy.firstFailureWithWait, !truth.mayHaveWaited {
                state.fault = "an attempt begins without the required wait"
            }
            state.attempts = begun
            count(goal, in: &state) {
                $0.begun += 1
                $0.owed += 1
                $0.mayHaveWaited = false
            }
            state.programs[number] = .trying(goal, before: before, with: begun[subject(goal)])
            if goal == .record {
                state.asked.insert(number)
                state.counter = nil
            }
        }
    }

    private func decide(
        _ goal: Goal, _ answer: Answer, _ before: Failures?, _ with: Failures?, _ number: Int,
        in state: inout State
    ) {
        let now = state.clock.reading
        let subject = subject(goal)
        switch answer {
        case .brokenOff: end(number, in: &state)
        case .notMade:
            state.attempts = state.attempts.deciding(
                subject, .notMade(before: before, with: with), at: now)
            count(goal, in: &state) {
                $0.begun -= 1
                $0.owed -= min($0.owed, 1)
                $0.mayHaveWaited = true
            }
            end(number, in: &state)
        case .yes:
            if goal == .record, state.isWiped { return end(number, in: &state) }
            state.attempts = state.attempts.deciding(subject, .opened, at: now)
            forget(goal, in: &state, except: number)
            end(number, in: &state)
        case .no:
            state.attempts = state.attempts.deciding(
                subject, .refused(by: slots(goal)), at: now)
            state.counter = number
            state.programs[number] = .refused(goal)
        }
    }

    private func wipe(_ stage: Stage, in state: inout State) {
        switch stage {
        case .purging, .purgingAgain: state.isInPrevious = false
        case .saving:
            guard !state.isWiped else { return }
            if case .wipe(let limit) = onFailure, state.checked >= UInt64(limit.value) {
                state.isWiped = true
                state.isInPrevious = true
            } else {
                state.fault = "wiped after \(state.checked) failed checks"
            }
        case .settling:
            state.attempts[line.subject] = nil
            forget(.record, in: &state, except: nil)
        }
    }

    // Attempts whose checks are still running count as begun.
    private func forget(_ goal: Goal, in state: inout State, except number: Int?) {
        state[shared(goal)] = Truth()
        if goal != .record { state[.copy] = Truth() }
        for (other, program) in state.programs.enumerated() where other != number {
            switch program {
            case .trying(goal, _, _): count(goal, in: &state) { $0.begun += 1 }
            case .answered(goal, let answer, _, _):
                count(goal, in: &state) {
                    $0.begun += 1
                    if answer == .no { $0.checked += 1 }
                }
            default: break
            }
        }
    }

    /// The goal whose numbers include those of this goal.
    private func shared(_ goal: Goal) -> Goal { goal == .copy ? .vault : goal }

    private func count(_ goal: Goal, in state: inout State, _ change: (inout Truth) -> Void) {
        change(&state[shared(goal)])
        if goal == .copy { change(&state[.copy]) }
    }

    private func tell(_ goal: Goal, _ number: Int, in state: inout State) {
        count(goal, in: &state) { $0.told += 1 }
        let counted = state.attempts[subject(goal)]?.refused ?? 0
        let refusals = state.attempts.refusals[slots(goal)] ?? 0
        let told = goal == .vault ? state[.vault].told - state[.copy].told : state[.copy].told
        if goal != .record, refusals < told {
            state.fault = "a refusal does not count towards a wipe"
        }
        if counted < state[shared(goal)].told, !(goal == .record && state.isWiped) {
            state.fault = "a refusal was reported but is not counted"
        }
        if goal != .copy, state.isWiped, state.isInPrevious {
            state.fault = "a wipe was reported, but the previous generation contains the secret"
        }
        end(number, in: &state)
    }

    func violation(in state: State) -> String? {
        if let fault = state.fault { return fault }
        for goal in [Goal.vault, .record] {
            let counted = state.attempts[subject(goal)]
            if counted?.count ?? 0 > state[goal].begun {
                return "more attempts are counted than were begun"
            }
            if counted?.refused ?? 0 > state[goal].checked {
                return "more refusals are counted than checks failed"
            }
            if counted?.count ?? 0 < state[goal].owed {
                return "fewer attempts are counted than were begun"
            }
        }
        return nil
    }

    /// Compares times by the time left in each wait.
    func key(of state: State) -> [AnyHashable] {
        let now = state.clock.reading
        func times(_ failures: Failures?) -> [UInt64] {
            failures.map { [$0.refused, $0.undecided, $0.wait, $0.rest(at: now)] } ?? []
        }
        let programs = state.programs.map { program -> [AnyHashable] in
            switch program {
            case .trying(let goal, let before, let with):
                let isLast = with == state.attempts[subject(goal)]
                return [goal, times(before), times(with), isLast]
            case .answered(let goal, let answer, let before, let with):
                let isLast = with == state.attempts[subject(goal)]
                return [goal, answer, times(before), times(with), isLast]
            default: return [program]
            }
        }
        return [
            times(state.attempts.vault), times(state.attempts[line.subject]), state.isWiped,
            state.attempts.refusals,
            state.isInPrevious, programs, state.counter ?? -1, state.asked, state.starts,
            state.truths, state.fault ?? "",
        ]
    }
}
