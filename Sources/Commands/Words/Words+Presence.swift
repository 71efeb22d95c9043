import SecretVault

// Who must be there, and what failing costs.
extension Words {
    /// Access control in a few words; `nil` where it is what every new entry gets.
    static func description(of access: AccessControl, for kind: EntryKind) -> String? {
        let standard = AccessControl.standard(for: kind)
        var words: [String] = []
        if access.presence != standard.presence { words.append(access.presence.word) }
        if access.onFailure != standard.onFailure { words.append(access.onFailure.word) }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    /// When somebody is asked.
    static func sentence(for presence: AccessControl.Presence) -> String {
        switch presence {
        case .perUnlock: "asked once, when the vault is unlocked"
        case .perUse: "asked each time the secret is used"
        }
    }

    /// What failing costs.
    static func sentence(for onFailure: AccessControl.OnFailure) -> String {
        switch onFailure {
        case .lockOut: "after 5 failures in a row it waits: 1, 5, 15, 30, then 60 minutes"
        case .wipe(let count):
            count.value == 1
                ? "the first failure wipes the secret"
                : "\(count.value) failures in a row wipe the secret"
        }
    }

    /// What is asked.
    static func sentence(for check: EntryCheck) -> String {
        switch check {
        case .passphrase: "the one that opens the vault"
        case .pam: "what the system asks for the service “watchword”, beside the passphrase"
        }
    }

    /// How much a yes is worth.
    static func sentence(forGradeOf check: EntryCheck) -> String {
        switch check {
        case .passphrase: "the check yields the key; without it nothing opens"
        case .pam: "the system says yes or no; who controls the system can say yes"
        }
    }
}
