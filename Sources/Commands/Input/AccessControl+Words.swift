import Arguments
import SecretVault

// Access control values in options and JSON.
extension AccessControl.Presence {
    /// Parses a value of `--presence`, ignoring case; `nil` if it is invalid.
    init?(word: String) {
        let typed = word.lowercased()
        // The default check can be given explicitly.
        let any = AccessControl.Presence.perUse(.any)
        if typed == "\(any.word):\(AccessControl.Check.any.rawValue)" {
            self = any
        } else {
            self.init { $0 == typed }
        }
    }
}

extension AccessControl.OnFailure {
    /// The limit of `wipe` without a number, as for enrolled secrets.
    private static let standardCount = 3

    /// The value of `--on-failure`.
    var word: String {
        switch self {
        case .lockOut: "lock-out"
        case .wipe(let count): "wipe:\(count.value)"
        }
    }

    /// Parses a value of `--on-failure`, ignoring case; `nil` if it is invalid.
    init?(word: String) {
        let typed = word.lowercased()
        if typed == "lock-out" {
            self = .lockOut
            return
        }
        let parts = typed.split(separator: ":", omittingEmptySubsequences: false)
        guard parts[0] == "wipe", parts.count <= 2 else { return nil }
        let number = parts.count == 2 ? parts[1] : "\(AccessControl.OnFailure.standardCount)"
        // `Int(_:)` would accept a plus sign.
        guard !number.hasPrefix("+"), let value = Int(number), let count = FailureCount(value)
        else { return nil }
        self = .wipe(after: count)
    }
}

/// The changes to access control that the options request.
struct AccessControlChange {
    let presence: AccessControl.Presence?
    let onFailure: AccessControl.OnFailure?

    /// Parses `--presence` and `--on-failure`.
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
            let expected = "lock-out, wipe, or wipe:N with N from 1 to 100"
            throw .usage(.badValue(Option.onFailure.name, expected: expected))
        }
        onFailure = given
    }

    /// `other` with the changes.
    func applied(to other: AccessControl) -> AccessControl {
        AccessControl(
            presence: presence ?? other.presence, onFailure: onFailure ?? other.onFailure)
    }
}
