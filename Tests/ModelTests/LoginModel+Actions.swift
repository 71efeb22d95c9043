// The possible actions in each state.
extension LoginModel {
    func actions(in state: State) -> [Action] {
        state.holders.indices.flatMap { actions(of: $0, in: state) } + networkActions(in: state)
            + rareActions(in: state)
    }

    private func actions(of index: Int, in state: State) -> [Action] {
        let holder = state.holders[index]
        guard holder.wiped == nil else { return [] }
        guard let run = holder.run else { return [.start(index)] }
        switch run.wait {
        case .keeping, .wiping: return [.store(index), .kill(index)]
        case .nothing: return []
        case .asking:
            guard holder.mail == nil else { return [.receive(index), .timeOut(index)] }
            return [
                .timeOut(index), .loseConnection(index),
                .receiveOther(index, .problem(503)), .receiveOther(index, .problem(404)),
                .receiveOther(index, .denied(wipe: "because")),
            ]
        }
    }

    private func networkActions(in state: State) -> [Action] {
        var actions: [Action] = []
        let free = state.nodes.firstIndex { $0 == nil }
        for posted in state.network.keys.sorted(by: { $0.order < $1.order }) where free != nil {
            for ring in state.rotation == 1 ? [0, 1] : [state.rotation / 2] {
                actions.append(.deliver(posted, ring: ring, again: false))
                if state.duplicates < setting.duplicates {
                    actions.append(.deliver(posted, ring: ring, again: true))
                }
            }
        }
        for node in state.nodes.indices where state.nodes[node] != nil {
            actions.append(.go(node: node))
        }
        return actions
    }

    private func rareActions(in state: State) -> [Action] {
        var actions: [Action] = []
        if setting.hasThief, state.holders.count == 1, state.holders[0].wiped == nil {
            actions.append(.copy)
        }
        if setting.hasKeyRotation, state.rotation < 2 { actions.append(.rotateKeys) }
        if state.turns < setting.mostTurns {
            actions += setting.days.map { .turnClock(days: $0) }
        }
        if setting.hasPutBack || setting.hasRestore {
            if state.backup == nil { actions.append(.backUp) }
            if state.backup != nil, !state.wasPutBack {
                actions.append(setting.hasRestore ? .restore : .rolledBack)
            }
        }
        if setting.hasEnd, state.book.end == nil { actions += [.revoke, .close] }
        return actions
    }
}

extension LoginModel.Posted {
    fileprivate var order: String { "\(sender) \(message.idempotencyKey)" }
}
