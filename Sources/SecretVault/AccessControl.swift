internal import Presence

/// Who must be there before a record opens, and what failing costs.
public struct AccessControl: Hashable, Sendable {
    /// When presence is asked.
    public enum Presence: Hashable, Sendable {
        /// Once for each unlocking of the vault.
        case perUnlock
        /// Each time the record is opened, by this check.
        case perUse(Check)

        /// Whether each use asks.
        public var isPerUse: Bool { self != .perUnlock }
    }

    /// Which check an entry demands at each use.
    public enum Check: String, CaseIterable, Sendable {
        /// Either of the two; whoever asks chooses.
        case any
        /// What opens the vault, and nothing else.
        case passphrase
        /// The system's own check, and nothing else.
        case pam
    }

    /// What failing to prove presence does.
    public enum OnFailure: Hashable, Sendable {
        /// The record waits longer and longer.
        case lockOut
        /// After so many failures in a row the record is replaced by a tombstone.
        case wipe(after: FailureCount)
    }

    /// When presence is asked.
    public let presence: Presence
    /// What failing to prove presence does.
    public let onFailure: OnFailure

    /// States both.
    public init(presence: Presence, onFailure: OnFailure) {
        self.presence = presence
        self.onFailure = onFailure
    }

    /// What a new entry of this kind gets unless its owner says otherwise.
    ///
    /// A one-time password's owner could not get it back, so it is never wiped; a password login can
    /// enrol a device again.
    public static func standard(for kind: EntryKind) -> AccessControl {
        switch kind {
        case .totp, .hotp, .secret: AccessControl(presence: .perUnlock, onFailure: .lockOut)
        case .enrolled: AccessControl(presence: .perUnlock, onFailure: .wipe(after: .three))
        }
    }
}

/// How many failures in a row wipe a record: 1 to 100.
public struct FailureCount: Hashable, Sendable {
    /// Between 1 and 100, always.
    public let value: Int

    static let three = FailureCount(unchecked: 3)

    private init(unchecked value: Int) { self.value = value }

    /// Takes 1 to 100; `nil` otherwise.
    public init?(_ value: Int) {
        guard (1...100).contains(value) else { return nil }
        self.value = value
    }
}

extension AccessControl.Presence {
    /// The word for it, in the vault's file and as people type it.
    package var word: String {
        switch self {
        case .perUnlock: "per-unlock"
        case .perUse(.any): "per-use"
        case .perUse(let check): "per-use:\(check.rawValue)"
        }
    }

    private static let all: [(presence: Self, word: String)] =
        ([Self.perUnlock] + AccessControl.Check.allCases.map(Self.perUse)).map { ($0, $0.word) }

    /// Takes the one whose word `isWord` recognises; `nil` when it recognises none.
    package init?(where isWord: (String) -> Bool) {
        guard let found = Self.all.first(where: { isWord($0.word) }) else { return nil }
        self = found.presence
    }

    /// Whether a check of this grade may open the entry: the system's is advisory, that of what opens the
    /// vault cryptographic.
    func accepts(_ grade: any PresenceGrade.Type) -> Bool {
        switch self {
        case .perUnlock, .perUse(.any): true
        case .perUse(.passphrase): grade == Cryptographic.self
        case .perUse(.pam): grade == Advisory.self
        }
    }
}
