import TestSupport
import Testing

/// Two programs that each read a number and write it back incremented.
private struct Counting: StateMachine {
    struct State: Hashable {
        var number = 0
        /// The number that each program has read but not yet written.
        var read: [Int?] = [nil, nil]
        var hasWritten = [false, false]
    }

    enum Action: CustomStringConvertible {
        case read(Int), write(Int)

        var description: String {
            switch self {
            case .read(let program): "read by program \(program)"
            case .write(let program): "write by program \(program)"
            }
        }
    }

    /// Whether a program writes only if the number has not changed since it read it.
    let isConditional: Bool

    var initialStates: [State] { [State()] }

    func actions(in state: State) -> [Action] {
        [0, 1].filter { !state.hasWritten[$0] }.map { program in
            state.read[program] == nil ? .read(program) : .write(program)
        }
    }

    func apply(_ action: Action, to state: State) -> State {
        var state = state
        switch action {
        case .read(let program): state.read[program] = state.number
        case .write(let program):
            guard let read = state.read[program] else { return state }
            state.read[program] = nil
            if isConditional, read != state.number { return state }
            state.number = read + 1
            state.hasWritten[program] = true
        }
        return state
    }

    func key(of state: State) -> State { state }

    func violation(in state: State) -> String? {
        let written = state.hasWritten.count { $0 }
        return state.number == written ? nil : "\(written) writes, but \(state.number) counted"
    }
}

@Suite("Exploration")
struct ExplorationTests {
    @Test("a lost update is found and reported with the shortest trace")
    func lostUpdate() async throws {
        let exploration = try await Counting(isConditional: false).explore(depth: 10)
        let violation = try #require(exploration.violation)
        #expect(violation.message == "2 writes, but 1 counted")
        #expect(
            violation.trace == [
                "read by program 0", "read by program 1", "write by program 0",
                "write by program 1",
            ])
    }

    @Test("every state is visited once, and completion is reported")
    func complete() async throws {
        let exploration = try await Counting(isConditional: true).explore(depth: 10)
        #expect(exploration.violation == nil)
        #expect(exploration.isComplete)
        // No write yet: each program has read or not, 4 states. One write: the other program has
        // read nothing, the old number or the new one, 2 × 3. Both have written: 1.
        #expect(exploration.states == 11)
        // The last state is also the deepest: two reads and two writes.
        #expect(exploration.depth == 4)
    }

    @Test("exploration stops at the depth limit and is reported as incomplete")
    func limited() async throws {
        let exploration = try await Counting(isConditional: true).explore(depth: 2)
        #expect(!exploration.isComplete)
        #expect(exploration.depth == 2)
        #expect(exploration.counts == ["read": 4, "write": 2])
    }

    @Test("initial states are also checked")
    func initial() async throws {
        struct Wrong: StateMachine {
            var initialStates: [Int] { [7] }
            func actions(in state: Int) -> [String] { [] }
            func apply(_ action: String, to state: Int) -> Int { state }
            func key(of state: Int) -> Int { state }
            func violation(in state: Int) -> String? { "seven" }
        }
        let violation = try #require(try await Wrong().explore(depth: 1).violation)
        #expect(violation.message == "seven" && violation.trace.isEmpty)
    }
}
