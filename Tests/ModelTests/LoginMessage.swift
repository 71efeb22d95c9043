/// A login as sent over the network.
struct LoginMessage: Hashable, Sendable {
    /// The same for every attempt at the same login.
    let idempotencyKey: String
    let credential: String
    let secret: String
    let nonce: [UInt8]
}

/// The response to a login.
enum LoginReply: Hashable, Sendable {
    case accepted(generation: UInt64, secret: String, verification: String, login: String)
    /// A denial, with the reason to wipe if there is one.
    case denied(wipe: String?)
    /// An HTTP problem with this status.
    case problem(Int)

    /// The response without the decision's random name and what derives from it.
    var canonical: LoginReply {
        guard case .accepted(let generation, let secret, _, _) = self else { return self }
        return .accepted(generation: generation, secret: secret, verification: "", login: "")
    }

    /// The response as the server records it.
    var text: String {
        switch self {
        case .accepted(let generation, let secret, let verification, let login):
            "accepted \(generation) \(secret) \(verification) \(login)"
        case .denied(let wipe): wipe.map { "denied \($0)" } ?? "denied"
        case .problem(let status): "problem \(status)"
        }
    }

    /// Parses the output of ``text``.
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
