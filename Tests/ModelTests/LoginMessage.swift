/// A login as it goes over the network.
struct LoginMessage: Hashable, Sendable {
    /// The same for each attempt at the same login.
    let idempotencyKey: String
    let credential: String
    let secret: String
    let nonce: [UInt8]
}

/// What comes back.
enum LoginReply: Hashable, Sendable {
    case accepted(generation: UInt64, secret: String, verification: String, login: String)
    /// With the word of a reason to wipe, if there is one.
    case denied(wipe: String?)
    /// A problem with an HTTP status.
    case problem(Int)

    /// The reply without the decision's random name, and what follows from it.
    var canonical: LoginReply {
        guard case .accepted(let generation, let secret, _, _) = self else { return self }
        return .accepted(generation: generation, secret: secret, verification: "", login: "")
    }

    /// The reply as the server records it.
    var text: String {
        switch self {
        case .accepted(let generation, let secret, let verification, let login):
            "accepted \(generation) \(secret) \(verification) \(login)"
        case .denied(let wipe): wipe.map { "denied \($0)" } ?? "denied"
        case .problem(let status): "problem \(status)"
        }
    }

    /// Reads what ``text`` writes.
    init?(text: String) {
        let words = text.split(separator: " ").map(String.init)
        switch (words.first, words.count) {
        case ("accepted", 5):
            guard let generation = UInt64(words[1]) else { return nil }
            self = .accepted(
                generation: generation, secret: words[2], verification: words[3], login: words[4])
        case ("denied", 1): self = .denied(wipe: nil)
        case ("denied", 2): self = .denied(wipe: words[1])
        default: return nil
        }
    }
}
