public import Devices

/// The presence check that a record requires, and the consequence of failed checks.
public struct AccessControl: Hashable, Sendable {
    /// Whether presence is checked once at unlocking, or at each use.
    public enum Presence: Hashable, Sendable {
        /// Once, when the vault is unlocked.
        case perUnlock
        /// Each time the record is opened, with this kind of check.
        case perUse(Check)

        /// Whether each use requires a check.
        public var isPerUse: Bool { self != .perUnlock }
    }

    /// The kind of check that an entry requires at each use.
    public enum Check: String, CaseIterable, Sendable {
        /// The passphrase, the recovery key or the system's check; the caller chooses.
        case any
        /// Only the passphrase or recovery key.
        case passphrase
        /// Only the system's own check (PAM).
        case pam
    }

    /// The consequence of failed checks in a row.
    public enum OnFailure: Hashable, Sendable {
        /// The record is locked out, longer after each failure.
        case lockOut
        /// After this many failures in a row, a tombstone replaces the record.
        case wipe(after: FailureCount)
    }

    /// Whether presence is checked once at unlocking, or at each use.
    public let presence: Presence
    /// Whether failed checks lock the entry out or wipe it.
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

/// The number of failures in a row that wipe a record: 1 to 100.
public struct FailureCount: Hashable, Sendable {
    /// The number of failures, 1 to 100.
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
    /// The reuse time in seconds; 0 if a check is never reused.
    public let seconds: Int

    /// Each check counts for one use only.
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
    /// The name of the setting in the vault file and on the command line.
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

extension AccessControl {
    /// These settings, each made at least as strict as in `other`.
    package func atLeast(_ other: AccessControl) -> AccessControl {
        let isShorter = reuse.seconds <= other.reuse.seconds
        return AccessControl(
            presence: presence.isPerUse ? presence : other.presence,
            onFailure: onFailure.stricter(than: other.onFailure),
            reuse: isShorter ? reuse : other.reuse)
    }
}

extension AccessControl.OnFailure {
    /// The stricter of the two: a wipe rather than a lock-out, and the wipe after fewer failures.
    func stricter(than other: Self) -> Self {
        switch (self, other) {
        case (.wipe(let own), .wipe(let others)): own.value <= others.value ? self : other
        case (.wipe, .lockOut): self
        case (.lockOut, _): other
        }
    }
}

/// Changes to an entry's access control; `nil` leaves a value unchanged.
package struct AccessControlChange: Hashable, Sendable {
    package let presence: AccessControl.Presence?
    package let onFailure: AccessControl.OnFailure?
    package let reuse: ReuseTime?

    package init(
        presence: AccessControl.Presence? = nil, onFailure: AccessControl.OnFailure? = nil,
        reuse: ReuseTime? = nil
    ) {
        self.presence = presence
        self.onFailure = onFailure
        self.reuse = reuse
    }

    package var isEmpty: Bool { presence == nil && onFailure == nil && reuse == nil }

    package func applied(to other: AccessControl) -> AccessControl {
        AccessControl(
            presence: presence ?? other.presence, onFailure: onFailure ?? other.onFailure,
            reuse: reuse ?? other.reuse)
    }
}

/// The result of a presence check; see ``UnlockedVault/prove(_:for:words:reading:now:)``.
public enum PresenceOutcome<Check: PresenceCheck>: ~Copyable {
    /// A person is present; the proof opens one entry, once.
    case proved(PresenceProof<Check.Grade>)
    /// The check failed, with this consequence.
    case refused(RefusalCost)
    /// The check could not be completed, for this reason; the attempt may stay counted.
    case undecided(Check.Failure)
}

/// The consequence of a failed check.
public enum RefusalCost: Hashable, Sendable {
    /// No consequence yet: `left` more failures in a row are allowed before one causes a wait or a
    /// wipe.
    case free(left: Int)
    /// The next attempt is allowed after this many seconds.
    case wait(seconds: Int64)
    /// The secret was wiped, because the limit of failures was reached.
    case wiped
    /// No consequence: the vault cannot be written, so failures are not counted.
    case notCounted
}

/// The failures that are counted against a vault or an entry, and the remaining wait.
public struct LockOut: Hashable, Sendable {
    /// Consecutive attempts that were refused, or begun and never decided.
    public let failures: Int64
    /// Seconds until the next attempt is allowed; 0 if it is allowed now.
    public let seconds: Int64

    init(_ failures: Failures?, at reading: ClockReading) {
        // The file may have come from a client, so its numbers are clamped.
        self.init(
            failures: Int64(clamping: failures?.count ?? 0),
            seconds: Int64(clamping: failures?.rest(at: reading) ?? 0))
    }

    init(failures: Int64, seconds: Int64) {
        self.failures = failures
        self.seconds = seconds
    }
}
