internal import Presence

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

    /// Combines the two settings.
    public init(presence: Presence, onFailure: OnFailure) {
        self.presence = presence
        self.onFailure = onFailure
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
    /// The system's check is advisory; a passphrase or recovery key is cryptographic.
    func accepts(_ grade: any PresenceGrade.Type) -> Bool {
        switch self {
        case .perUnlock, .perUse(.any): true
        case .perUse(.passphrase): grade == Cryptographic.self
        case .perUse(.pam): grade == Advisory.self
        }
    }
}
