import SecretVault
import VaultService

/// The result of importing a finding.
enum ImportResult {
    case added(EntryName)
    case replaced(EntryName)
    /// An entry with the same codes exists.
    case present(EntryName, as: EntryName, [ImportWarning])
    /// An entry with the same codes exists, and the item has a greater counter, a new PIN or more
    /// details.
    case updated(EntryName, as: EntryName, [ImportUpdate], [ImportWarning])
    /// The user chose to skip the item, because an entry with its name has another key.
    case declined(EntryName)
    case skipped(Finding.SkipReason)
    case refused(Finding.Refusal)

    var isRefusal: Bool { if case .refused = self { true } else { false } }

    /// Warnings about details of the item that were not added to the vault.
    var warnings: [ImportWarning] {
        switch self {
        case .present(_, _, let warnings), .updated(_, _, _, let warnings): warnings
        case .added, .replaced, .declined, .skipped, .refused: []
        }
    }

    /// Whether to report the item individually even if there are many.
    var isNotable: Bool {
        switch self {
        case .declined, .skipped, .refused: true
        case .added, .replaced, .present, .updated: false
        }
    }
}

extension ImportResult {
    init(_ outcome: ItemOutcome) {
        switch outcome {
        case .added(let name): self = .added(name)
        case .replaced(let name): self = .replaced(name)
        case .present(let name, let twin, let missing):
            self = .present(name, as: twin, missing.map(ImportWarning.init))
        case .updated(let name, let twin, let updates, let missing):
            self = .updated(name, as: twin, updates, missing.map(ImportWarning.init))
        case .declined(let name): self = .declined(name)
        case .refused(.keyRepeatedTooOften): self = .refused(.keyRepeatedTooOften)
        case .refused(.nameTaken(let name)): self = .refused(.nameTaken(name))
        case .refused(.notCompared(let name)): self = .refused(.notCompared(name))
        case .refused(.requiresCheckPerUse(let name)):
            self = .refused(.requiresCheckPerUse(name.visible))
        case .refused(.tooLong): self = .refused(.tooLong)
        }
    }
}

extension ImportWarning {
    fileprivate init(_ missing: MissingDetail) {
        self =
            switch missing {
            case .note: .otherNote
            case .tag: .leftOut(.tag)
            }
    }
}
