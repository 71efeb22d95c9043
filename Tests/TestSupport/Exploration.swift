/// A state machine whose states are values, so that every order of its actions can be tried.
///
/// A test describes the real code in this form and calls ``explore(depth:)``. To check a transition
/// rather than a state (such as "this answer was given twice"), ``apply(_:to:)`` records the fault
/// in the new state, and ``violation(in:)`` reports it. Anything else that the invariants depend
/// on, such as which codes were ever accepted, is also part of the state and of its key.
package protocol StateMachine {
    /// Everything that influences what happens next.
    associatedtype State
    /// One atomic step. Its description is a line of the trace.
    associatedtype Action: CustomStringConvertible
    /// Identifies a state: two states with equal keys behave alike.
    associatedtype Key: Hashable

    /// The initial states of the exploration.
    var initialStates: [State] { get }
    /// The possible next actions; an empty array ends the path.
    func actions(in state: State) -> [Action]
    /// The state after `action`. The same action in the same state must always have the same
    /// result.
    func apply(_ action: Action, to state: State) async throws -> State
    /// The canonical form. Leave out whatever has no effect, such as random names and logs.
    func key(of state: State) -> Key
    /// The invariant that `state` violates, or `nil`.
    func violation(in state: State) async throws -> String?
}

/// The result of an exploration.
package struct Exploration: CustomStringConvertible, Sendable {
    /// A state that violates an invariant, and the shortest path to it.
    package struct Violation: CustomStringConvertible, Sendable {
        package let message: String
        /// The actions, starting from an initial state.
        package let trace: [String]

        package var description: String {
            let lines = trace.enumerated().map { "\n  \($0.offset + 1). \($0.element)" }
            return message + lines.joined()
        }
    }

    /// The number of distinct states.
    package fileprivate(set) var states = 0
    /// The number of actions applied.
    package fileprivate(set) var transitions = 0
    /// The depth of the deepest state visited.
    package fileprivate(set) var depth = 0
    /// Whether every reachable state was visited: the depth limit was not reached.
    package fileprivate(set) var isComplete = false
    /// How often each kind of action was applied, by the first word of its description.
    package fileprivate(set) var counts: [String: Int] = [:]
    package fileprivate(set) var violation: Violation?

    package var description: String {
        let kinds = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return "\(states) states, \(transitions) transitions, depth \(depth)"
            + (isComplete ? " (all)" : "") + ": " + kinds.joined(separator: ", ")
    }
}

extension StateMachine {
    /// Visits every state that can be reached in at most `depth` actions, breadth first, and checks
    /// the invariants in each.
    ///
    /// The exploration stops at the first violation, so no shorter trace exists.
    package func explore(depth limit: Int) async throws -> Exploration {
        var exploration = Exploration()
        var known: Set<Key> = []
        // How each state was reached: by an action from an earlier state.
        var origins: [(from: Int?, by: Action?)] = []
        var layer: [(index: Int, state: State)] = []

        func visit(
            _ state: State, from origin: Int?, by action: Action?
        ) async throws -> (Int, State)? {
            guard known.insert(key(of: state)).inserted else { return nil }
            origins.append((origin, action))
            if let message = try await violation(in: state) {
                var trace: [String] = []
                var place: Int? = origins.count - 1
                while let index = place {
                    if let action = origins[index].by { trace.insert(action.description, at: 0) }
                    place = origins[index].from
                }
                exploration.violation = Exploration.Violation(message: message, trace: trace)
            }
            return (origins.count - 1, state)
        }

        for state in initialStates {
            if let found = try await visit(state, from: nil, by: nil) { layer.append(found) }
        }
        while exploration.violation == nil, !layer.isEmpty, exploration.depth < limit {
            var next: [(index: Int, state: State)] = []
            for (index, state) in layer where exploration.violation == nil {
                for action in actions(in: state) where exploration.violation == nil {
                    exploration.transitions += 1
                    let kind = action.description.prefix { $0 != " " }
                    exploration.counts[String(kind), default: 0] += 1
                    let result = try await apply(action, to: state)
                    if let found = try await visit(result, from: index, by: action) {
                        next.append(found)
                    }
                }
            }
            layer = next
            if !layer.isEmpty { exploration.depth += 1 }
        }
        exploration.states = known.count
        exploration.isComplete = layer.isEmpty
        return exploration
    }
}
