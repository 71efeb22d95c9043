import Arguments
import CommandRunner
import SecretVault

/// The order of a list of entries.
enum EntryOrder: String {
    /// By issuer and account, or by account if there is no issuer.
    case name
    /// In the order in which they were added.
    case added
}

extension Session {
    /// The order that `--sort` names; `nil` if it was not given.
    func givenOrder() throws(CommandFailure) -> EntryOrder? {
        let word = try usage { () throws(UsageError) in try arguments.choice(.sort) }
        return word.flatMap(EntryOrder.init(rawValue:))
    }
}

extension [EntrySummary] {
    /// The entries in another order; equal ones stay in the order in which they were added.
    func sorted(by order: EntryOrder) -> [EntrySummary] {
        switch order {
        case .added: return self
        case .name:
            let keys = map { entry in
                entry.issuer.isEmpty
                    ? [FoldedText(entry.account)]
                    : [FoldedText(entry.issuer), FoldedText(entry.account)]
            }
            return indices.sorted { left, right in
                if keys[left] == keys[right] { return left < right }
                return keys[left].lexicographicallyPrecedes(keys[right])
            }.map { self[$0] }
        }
    }
}
