@testable import Verification

// The effect of each action.
extension LoginModel {
    func apply(_ action: Action, to state: State) async throws -> State {
        var state = state
        state.serial += 1
        switch action {
        case .start(let index):
            state.holders[index].run = startRun(of: index, in: state)
            settle(index, &state)
        case .store(let index): store(index, &state)
        case .kill(let index): state.holders[index].stop()
        case .timeOut(let index): take(.timedOut, index, &state)
        case .loseConnection(let index): take(.connectionLost, index, &state)
        case .receive(let index):
            guard let mail = state.holders[index].mail else { break }
            take(.answered(mail), index, &state)
        case .receiveOther(let index, let reply): take(.answered(reply), index, &state)
        case .deliver(let posted, let ring, let again):
            if again { state.duplicates += 1 } else { state.network.removeOne(posted) }
            guard let node = state.nodes.firstIndex(where: { $0 == nil }) else { break }
            state.nodes[node] = Work(posted: posted, ring: ring, seed: state.serial)
            await advance(node, &state, operations: setting.isInterleaved ? 0 : .max)
        case .go(let node): await advance(node, &state, operations: 1)
        case .copy: state.holders.append(Holder(record: state.holders[0].record))
        case .rotateKeys: state.rotation += 1
        case .turnClock(let days):
            state.turns += 1
            state.now = state.now.adding(seconds: days * 86_400)
            // Messages a day old are no longer delivered, and recorded responses are pruned.
            state.network = [:]
            state.nodes = [nil, nil]
            state.book.prune(at: state.now)
            let pruning = Pruning(now: state.now, eventsBefore: nil)
            _ = state.content.prune(pruning, key: service.rings[0].auditKey)
        case .backUp: state.backup = (state.content, state.book)
        case .rolledBack: rolledBack(&state)
        case .restore: try restore(&state)
        case .revoke: try await end(&state, as: .revoked)
        case .close: try await end(&state, as: .accountClosed)
        }
        return state
    }

    func startRun(of index: Int, in state: State) -> DeviceRun {
        let holder = state.holders[index]
        return DeviceRun(from: holder.record, nonces: (owner: UInt8(index), kept: holder.nonces))
    }

    private func take(_ step: DeviceRun.Step, _ index: Int, _ state: inout State) {
        state.holders[index].mail = nil
        state.holders[index].run?.take(step)
        settle(index, &state)
    }

    /// Sends the request of a run, and ends a run that has finished.
    private func settle(_ index: Int, _ state: inout State) {
        switch state.holders[index].run?.wait {
        case .asking(let message):
            state.network[Posted(sender: index, message: message), default: 0] += 1
        case .nothing: state.holders[index].stop()
        case .keeping, .wiping, nil: break
        }
    }

    private func store(_ index: Int, _ state: inout State) {
        switch state.holders[index].run?.wait {
        case .keeping(let record):
            if record.isUnanswered { state.holders[index].nonces += 1 }
            state.holders[index].record = record
            take(.kept, index, &state)
        case .wiping(let reason):
            state.holders[index].wiped = reason
            take(.wiped, index, &state)
        default: break
        }
    }

    private func advance(_ node: Int, _ state: inout State, operations: Int) async {
        guard var work = state.nodes[node] else { return }
        let reply = await service.answer(
            work.posted.message, on: &state.content, ring: work.ring, at: state.now,
            seed: work.seed, progress: &work.progress, operations: operations)
        state.nodes[node] = reply == nil ? work : nil
        guard let reply else { return }
        state.book.enter(
            reply, to: work.posted.message, at: work.progress.times.last ?? state.now)
        let holder = state.holders[work.posted.sender]
        if case .asking(work.posted.message)? = holder.run?.wait, holder.mail == nil {
            state.holders[work.posted.sender].mail = reply
        }
    }

    private func rolledBack(_ state: inout State) {
        guard let (content, book) = state.backup else { return }
        state.content = content
        state.nodes = [nil, nil]
        state.wasPutBack = true
        state.book.rolledBack(book)
    }

    private func restore(_ state: inout State) throws {
        rolledBack(&state)
        guard let row = state.content.credentials[credential],
            let restored = try row.afterRestoring(at: state.now)
        else { return }
        state.content.apply(.updateCredential(restored.row))
        state.book.end = .revoked
    }

    private func end(_ state: inout State, as reason: WipeReason) async throws {
        let done = try await service.administer(
            &state.content, at: state.now, seed: state.serial
        ) { verifier in
            reason == .revoked
                ? try await verifier.revoke(credential) == .done
                : try await verifier.closeAccount(of: service.subject) > 0
        }
        if done == true { state.book.end = state.book.end ?? reason }
    }
}

extension LoginModel.Holder {
    fileprivate mutating func stop() {
        run = nil
        mail = nil
    }
}

extension [LoginModel.Posted: Int] {
    fileprivate mutating func removeOne(_ posted: LoginModel.Posted) {
        guard let count = self[posted] else { return }
        self[posted] = count > 1 ? count - 1 : nil
    }
}
