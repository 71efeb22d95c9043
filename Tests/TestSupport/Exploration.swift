/// A state machine whose states are values, so that every order of its actions can be tried.
///
/// A test describes the real code in this form and calls ``explore(depth:)``. To check a transition
/// rather than a state (such as "this answer was given twice"), ``apply(_:to:)`` notes in the new state
/// what went wrong, and ``violation(in:)`` reports it. What the invariants need to know beyond the code's
/// own state, such as which codes were ever accepted, is part of the state and of its key, too.
package protocol StateMachine {
    /// Everything that influences what happens next.
    associatedtype State
    /// One atomic step; its description is a line of the trace.
    associatedtype Action: CustomStringConvertible
    /// Identifies a state: two states with equal keys behave alike.
    associatedtype Key: Hashable

    /// Where the exploration begins.
    var initialStates: [State] { get }
    /// What can happen next; an empty array ends the path.
    func actions(in state: State) -> [Action]
    /// The state after `action`. The same action in the same state must always have the same result.
    func apply(_ action: Action, to state: State) async throws -> State
    /// The canonical form: leave out whatever has no influence, such as random names and logs.
    func key(of state: State) -> Key
    /// Which invariant `state` violates; nil if it violates none.
    func violation(in state: State) async throws -> String?
}

/// What an exploration has seen.
package struct Exploration: CustomStringConvertible, Sendable {
    /// A state that violates an invariant, and the shortest way to it.
    package struct Violation: CustomStringConvertible, Sendable {
        package let message: String
        /// The actions, from an initial state on.
        package let trace: [String]

        package var description: String {
            let lines = trace.enumerated().map { "\n  \($0.offset + 1). \($0.element)" }
            return message + lines.joined()
        }
    }

    /// Distinct states.
    package fileprivate(set) var states = 0
    /// Actions that were applied.
    package fileprivate(set) var transitions = 0
    /// The most actions between an initial state and a state that was seen.
    package fileprivate(set) var depth = 0
    /// Whether no state was left out: the limit of the depth was not reached.
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
    /// Visits every state that can be reached by at most `depth` actions, breadth first, and checks the
    /// invariants in each.
    ///
    /// It stops at the first violation, to which no shorter way exists.
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
