import Arguments
import SecretVault

// Access control as options and JSON spell it.
extension AccessControl.Presence {
    /// Reads the word of `--presence`, whatever its case; `nil` when it is another one.
    init?(word: String) {
        let typed = word.lowercased()
        // That any check will do may be said, too.
        let any = AccessControl.Presence.perUse(.any)
        if typed == "\(any.word):\(AccessControl.Check.any.rawValue)" {
            self = any
        } else {
            self.init { $0 == typed }
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
        if let text = arguments[.presence] {
            guard let given = AccessControl.Presence(word: text) else {
                let expected = "per-unlock, per-use, per-use:passphrase or per-use:pam"
                throw .usage(.badValue(Option.presence.name, expected: expected))
            }
            presence = given
        } else {
            presence = nil
        }
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
