import CommandLineInterface
import SecretVault
import VaultService

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
    static let standardCount = 3

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

// The changes to access control that the options request.
extension AccessControlChange {
    /// Parses `--presence`, `--on-failure` and `--reuse`.
    init(_ session: Session) throws {
        var presence: AccessControl.Presence?
        if let text = session.arguments[.presence] {
            presence = AccessControl.Presence(word: text)
            guard presence != nil else {
                let expected = "per-unlock, per-use, per-use:passphrase or per-use:pam"
                throw UsageError.badValue(Option.presence.name, expected: expected)
            }
        }
        var onFailure: AccessControl.OnFailure?
        if let text = session.arguments[.onFailure] {
            onFailure = AccessControl.OnFailure(word: text)
            guard onFailure != nil else {
                let expected = "lock-out, wipe, or wipe:N with N from 1 to 100"
                throw UsageError.badValue(Option.onFailure.name, expected: expected)
            }
        }
        let seconds = try session.arguments.integer(.reuse, in: ReuseTime.range)
        self.init(
            presence: presence, onFailure: onFailure, reuse: seconds.flatMap(ReuseTime.init))
    }

    /// Refuses `--reuse` unless an entry with the access control `other` then requires a check at
    /// each use.
    func requirePerUse(after other: AccessControl) throws {
        guard reuse != nil, !applied(to: other).presence.isPerUse else { return }
        throw UsageError.needs(Option.reuse.name, with: "\(Option.presence.name) per-use")
    }
}
