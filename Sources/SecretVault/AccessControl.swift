/// Who must be there before a record opens, and what failing costs.
public struct AccessControl: Hashable, Sendable {
    /// When presence is asked.
    public enum Presence: Hashable, Sendable {
        /// Once for each unlocking of the vault.
        case perUnlock
        /// Each time the record is opened.
        case perUse
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
