internal import Devices

/// When a record requires a presence check, and what failed checks cost.
public struct AccessControl: Hashable, Sendable {
    /// When presence is checked.
    public enum Presence: Hashable, Sendable {
        /// Once, when the vault is unlocked.
        case perUnlock
        /// Each time the record is opened, with this check.
        case perUse(Check)

        /// Whether each use requires a check.
        public var isPerUse: Bool { self != .perUnlock }
    }

    /// Which check an entry requires at each use.
    public enum Check: String, CaseIterable, Sendable {
        /// Either of the two; the caller chooses.
        case any
        /// Only the passphrase or recovery key.
        case passphrase
        /// Only the system's own check (PAM).
        case pam
    }

    /// What happens when a check fails.
    public enum OnFailure: Hashable, Sendable {
        /// The record is locked out, longer after each failure.
        case lockOut
        /// After this many failures in a row, a tombstone replaces the record.
        case wipe(after: FailureCount)
    }

    /// When presence is checked.
    public let presence: Presence
    /// What happens when a check fails.
    public let onFailure: OnFailure
    /// How long the agent may reuse a successful check; always ``ReuseTime/none`` unless each
    /// use requires a check.
    public let reuse: ReuseTime

    /// Combines the settings; without a check at each use, nothing is reused.
    public init(presence: Presence, onFailure: OnFailure, reuse: ReuseTime = .none) {
        self.presence = presence
        self.onFailure = onFailure
        self.reuse = presence.isPerUse ? reuse : .none
    }

    /// The default for a new entry of this kind.
    ///
    /// A one-time password cannot be recovered, so it is never wiped by default. An enrolled secret
    /// can be replaced: the user signs in with the password and enrols the device again.
    public static func standard(for kind: EntryKind) -> AccessControl {
        switch kind {
        case .totp, .hotp, .secret, .motp, .yandex:
            AccessControl(presence: .perUnlock, onFailure: .lockOut)
        case .enrolled: AccessControl(presence: .perUnlock, onFailure: .wipe(after: .three))
        }
    }
}

/// How many failures in a row wipe a record: 1 to 100.
public struct FailureCount: Hashable, Sendable {
    /// Between 1 and 100.
    public let value: Int

    static let three = FailureCount(unchecked: 3)

    private init(unchecked value: Int) { self.value = value }

    /// Returns `nil` unless the value is 1 to 100.
    public init?(_ value: Int) {
        guard (1...100).contains(value) else { return nil }
        self.value = value
    }
}

/// How long a successful check may be reused for the same entry: 0 to 300 seconds.
public struct ReuseTime: Hashable, Sendable {
    /// Between 0 and 300.
    public let seconds: Int

    /// A check counts once.
    public static let none = ReuseTime(unchecked: 0)
    /// The allowed values of ``seconds``.
    public static let range = 0...300

    private init(unchecked seconds: Int) { self.seconds = seconds }

    /// Returns `nil` unless the value is in ``range``.
    public init?(_ seconds: Int) {
        guard ReuseTime.range.contains(seconds) else { return nil }
        self.seconds = seconds
    }
}

extension AccessControl.Presence {
    /// Its name in the vault file and on the command line.
    package var word: String {
        switch self {
        case .perUnlock: "per-unlock"
        case .perUse(.any): "per-use"
        case .perUse(let check): "per-use:\(check.rawValue)"
        }
    }

    private static let all: [(presence: Self, word: String)] =
        ([Self.perUnlock] + AccessControl.Check.allCases.map(Self.perUse)).map { ($0, $0.word) }

    /// Finds the setting whose word satisfies `isWord`; `nil` if there is none.
    package init?(where isWord: (String) -> Bool) {
        guard let found = Self.all.first(where: { isWord($0.word) }) else { return nil }
        self = found.presence
    }

    /// Whether a check of this grade may open the entry.
    ///
    /// The system's check is advisory or enforced; a passphrase or recovery key is cryptographic.
    func accepts(_ grade: any PresenceGrade.Type) -> Bool {
        switch self {
        case .perUnlock, .perUse(.any): true
        case .perUse(.passphrase): grade == Cryptographic.self
        case .perUse(.pam): grade == Advisory.self || grade == Enforced.self
        }
    }
}
