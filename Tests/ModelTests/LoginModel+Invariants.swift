@testable import Verification

// The invariants of each state.
extension LoginModel {
    func key(of state: State) -> Key {
        let row = state.content.credentials[credential]
        return Key(
            row: row?.canonicalLogin ?? [], now: state.now,
            holders: state.holders.map { holder in
                Key.Holder(
                    record: holder.record.bytes, start: holder.run?.start.bytes,
                    steps: holder.run?.steps.map(\.canonical) ?? [],
                    mail: holder.mail?.canonical, wiped: holder.wiped,
                    nonces: holder.nonces)
            }, network: state.network,
            nodes: state.nodes.map { work in
                work.map { work in
                    let rows = work.progress.credentials
                    return Key.Node(
                        posted: work.posted, ring: work.ring, rows: rows.map(\.canonicalLogin),
                        areCurrent: rows.allSatisfy { $0.version == row?.version },
                        count: work.progress.count)
                }
            }, counters: [state.duplicates, state.rotation, state.turns],
            wasPutBack: state.wasPutBack,
            backup: state.backup?.content.credentials[credential]?
                .canonicalLogin,
            book: state.book, backupBook: state.backup?.book)
    }

    func violation(in state: State) async -> String? {
        if let violation = state.book.violation { return violation }
        guard let row = state.content.credentials[credential] else { return "the row is missing" }
        let record: CredentialRecord
        do throws(VerifierError) { record = try CredentialRecord(row) } catch {
            return "the row is unreadable"
        }
        let ended = record.state == .revoked ? WipeReason(record.endReason) : nil
        if ended == .tooManyFailures { return "ended for failures, but no secret was invented" }
        if ended == .reuseDetected, state.holders.count == 1 {
            return "ended for reuse, but there is one holder"
        }
        if ended == .revoked || ended == .accountClosed, state.book.end != ended {
            return "ended as \(record.endReason?.rawValue ?? ""), but no operator ended it"
        }
        for index in state.holders.indices {
            if let wiped = state.holders[index].wiped {
                guard state.book.orders.contains(wiped) else {
                    return "wiped (\(wiped)), but the server never ordered it"
                }
            } else if let message = await doubt(of: index, in: state, ended: ended) {
                return message
            }
        }
        return nil
    }

    /// The fault of an undisturbed login that ends incorrectly; `nil` if it ends correctly.
    private func doubt(of index: Int, in state: State, ended: WipeReason?) async -> String? {
        let end = await undisturbedSignIn(of: index, in: state)
        let name = index == 0 ? "the owner" : "the thief"
        if let ended {
            guard end != .wiped(reason: ended.rawValue) else { return nil }
            return "ended (\(ended.rawValue)), but the result for \(name) is \(end)"
        }
        let holdings = state.holders[index].record.holdings
        if state.now.milliseconds(since: state.book.usedAt) >= service.policy.idleLifetime {
            return end == .failed ? nil : "idle, but the result for \(name) is \(end)"
        }
        if state.book.hasForgotten(holdings) {
            return end == .failed ? nil : "\(name) is no longer known, but the result is \(end)"
        }
        if state.book.isForeign(holdings) {
            guard end != .wiped(reason: WipeReason.reuseDetected.rawValue) else { return nil }
            return "another holder signed in, but the result for \(name) is \(end)"
        }
        return end == .signedIn ? nil : "\(name) can no longer sign in: \(end)"
    }

    private func undisturbedSignIn(of index: Int, in state: State) async -> DeviceRun.End {
        let holder = state.holders[index]
        let ring = state.rotation / 2
        let place = OutcomeMemory.Place(
            record: holder.record.bytes,
            row: state.content.credentials[credential]?.canonicalLogin ?? [], now: state.now,
            ring: ring, replies: state.book.replies, nonces: [UInt8(index), holder.nonces])
        if let end = outcomes.ends[place] { return end }
        var content = state.content
        var run = startRun(of: index, in: state)
        var end: DeviceRun.End?
        var serial = state.serial
        while end == nil {
            serial += 1
            switch run.wait {
            case .keeping: run.take(.kept)
            case .wiping: run.take(.wiped)
            case .nothing(let other): end = other
            case .asking(let message):
                var progress = Progress()
                let reply = await service.answer(
                    message, on: &content, ring: ring, at: state.now, seed: serial,
                    progress: &progress)
                run.take(reply.map { .answered($0) } ?? .timedOut)
            }
        }
        outcomes.ends[place] = end
        return end ?? .failed
    }
}

/// Caches how an undisturbed login ends, keyed by everything that the outcome depends on.
final class OutcomeMemory {
    struct Place: Hashable {
        let record: [UInt8]
        let row: [UInt8]
        let now: UnixTime
        let ring: Int
        let replies: [LoginMessage: LoginOracle.Recorded]
        let nonces: [UInt8]
    }

    var ends: [Place: DeviceRun.End] = [:]
}

extension DeviceRun.Step {
    fileprivate var canonical: DeviceRun.Step {
        guard case .answered(let reply) = self else { return self }
        return .answered(reply.canonical)
    }
}
