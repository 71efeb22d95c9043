import Arguments
import SecretVault

// Access control as options and JSON spell it.
extension AccessControl.Presence {
    /// The word of `--presence`.
    var word: String {
        switch self {
        case .perUnlock: "per-unlock"
        case .perUse: "per-use"
        }
    }
}

extension AccessControl.OnFailure {
    /// How many failures wipe when `wipe` is said alone, as for enrolled secrets.
    private static let standardCount = 3

    /// The word of `--on-failure`.
    var word: String {
        switch self {
        case .lockOut: "lock-out"
        case .wipe(let count): "wipe:\(count.value)"
        }
    }

    /// Reads the word, whatever its case; `nil` when it is another one.
    init?(word: String) {
        let typed = word.lowercased()
        if typed == "lock-out" {
            self = .lockOut
            return
        }
        let parts = typed.split(separator: ":", omittingEmptySubsequences: false)
        guard parts[0] == "wipe", parts.count <= 2 else { return nil }
        let number = parts.count == 2 ? parts[1] : "\(AccessControl.OnFailure.standardCount)"
        // `Int(_:)` takes a plus sign, which nobody means.
        guard !number.hasPrefix("+"), let value = Int(number), let count = FailureCount(value)
        else { return nil }
        self = .wipe(after: count)
    }
}

/// The access control that options ask for; what they leave open stays as it is.
struct AccessControlChange {
    let presence: AccessControl.Presence?
    let onFailure: AccessControl.OnFailure?

    /// Understands `--presence` and `--on-failure`.
    init(_ session: Session) throws(CommandFailure) {
        let arguments = session.arguments
        let word = try session.usage { () throws(UsageError) in try arguments.choice(.presence) }
        presence = word.map { $0 == AccessControl.Presence.perUse.word ? .perUse : .perUnlock }
        guard let text = arguments[.onFailure] else {
            onFailure = nil
            return
        }
        guard let given = AccessControl.OnFailure(word: text) else {
            let expected = "lock-out, wipe, or wipe: and a whole number from 1 to 100"
            throw .usage(.badValue(Option.onFailure.name, expected: expected))
        }
        onFailure = given
    }

    /// `other` with what was asked for.
    func applied(to other: AccessControl) -> AccessControl {
        AccessControl(
            presence: presence ?? other.presence, onFailure: onFailure ?? other.onFailure)
    }
}
