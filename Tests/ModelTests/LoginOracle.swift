@testable import Verification

/// The facts about earlier responses that decide whether the next response follows the table
/// “Rotation” in EnrolledSecrets.md.
struct LoginOracle: Hashable, Sendable {
    /// The nonce with which the secret of each generation was accepted.
    private(set) var spent: [UInt64: [UInt8]] = [:]
    /// The recorded acceptances, by their messages.
    private(set) var replies: [LoginMessage: Recorded] = [:]
    /// The reasons for which the server has ordered a holder to wipe.
    private(set) var orders: Set<String> = []
    /// When a secret was last accepted.
    private(set) var usedAt = LoginService.start
    /// Why the credential was ended, if an operator ended it.
    var end: WipeReason?
    private(set) var violation: String?

    /// A reply, and when it was given.
    struct Recorded: Hashable, Sendable {
        let reply: LoginReply
        let time: UnixTime
    }

    /// Judges a response, and records it.
    mutating func enter(_ reply: LoginReply, to message: LoginMessage, at now: UnixTime) {
        guard let generation = LoginService.generation(of: message.secret) else {
            violation = violation ?? "a secret without a generation"
            return
        }
        let reply = reply.canonical
        if case .problem = reply { return }
        if case .denied(let order) = reply {
            if let order { orders.insert(order) }
            // Only the end of the credential may revoke a response.
            if order == nil, replies[message] != nil { fail("an accepted request was denied") }
            return
        }
        if let earlier = replies[message] {
            if earlier.reply != reply { fail("the same request was accepted with two results") }
            return
        }
        replies[message] = Recorded(reply: reply, time: now)
        if let nonce = spent[generation], nonce != message.nonce {
            fail("the secret of generation \(generation) was accepted with two nonces")
        }
        spent[generation] = message.nonce
        usedAt = now
    }

    /// Discards the responses that are no longer recorded.
    mutating func prune(at now: UnixTime) {
        replies = replies.filter {
            now.milliseconds(since: $0.value.time) < Policy.answerLifetime
        }
    }

    /// Returns to the state of the earlier database.
    mutating func rolledBack(_ earlier: LoginOracle) {
        let (violation, orders) = (violation, orders)
        self = earlier
        self.violation = violation
        self.orders = orders
    }

    /// Whether another holder was accepted with a secret that the holder of `holdings` has not yet
    /// presented, or with a later one.
    func isForeign(_ holdings: [(generation: UInt64, nonce: [UInt8]?)]) -> Bool {
        guard let oldest = holdings.first?.generation else { return false }
        return spent.contains { generation, nonce in
            generation >= oldest
                && !holdings.contains { $0.generation == generation && $0.nonce == nonce }
        }
    }

    /// Whether the database is behind by more than the one login that the holder can repeat.
    func hasForgotten(_ holdings: [(generation: UInt64, nonce: [UInt8]?)]) -> Bool {
        guard let oldest = holdings.first?.generation else { return false }
        return oldest > (spent.keys.max().map { $0 + 1 } ?? 0)
    }

    private mutating func fail(_ message: String) { violation = violation ?? message }
}
