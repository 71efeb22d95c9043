import CommandLineInterface
import SecretVault
import VaultService

/// The order of a list of entries.
enum EntryOrder: String {
    /// By issuer and account, or by account if there is no issuer.
    case name
    /// In the order in which they were added.
    case added
    /// The one that was last used on this machine first; those that were not follow by name.
    case used
}

extension Session {
    /// The order that `--sort` names; `nil` if it was not given.
    func givenOrder() throws -> EntryOrder? {
        let word = try arguments.choice(.sort)
        return word.flatMap(EntryOrder.init(rawValue:))
    }
}

extension [EntrySummary] {
    /// The entries in another order; equal ones stay in the order in which they were added.
    ///
    /// - Parameter uses: when entries were last used.
    func sorted(by order: EntryOrder, uses: @autoclosure () -> [RecordID: Int64] = [:])
        -> [EntrySummary]
    {
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
        case .used:
            let times = uses()
            let named = sorted(by: .name)
            let keys = named.map { times[$0.id] ?? .min }
            return named.indices.sorted { left, right in
                keys[left] == keys[right] ? left < right : keys[left] > keys[right]
            }.map { named[$0] }
        }
    }
}
