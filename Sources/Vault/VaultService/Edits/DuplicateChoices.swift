package import SecretVault

/// What to do with an item whose entry already exists.
package enum DuplicatePolicy: String, CaseIterable, Sendable { case skip, replace, keep }

/// What to do with the items of an import whose entries already exist.
package struct DuplicateChoices: Hashable, Sendable {
    /// The policy for names about which the user was not asked.
    package let policy: DuplicatePolicy
    package private(set) var answers: [EntryName: DuplicatePolicy] = [:]

    package init(_ policy: DuplicatePolicy) { self.policy = policy }

    /// Chooses what to do with the items that have this name.
    package mutating func choose(_ policy: DuplicatePolicy, for name: EntryName) {
        answers[name] = policy
    }

    /// Whether an item may replace an entry.
    package var mayReplace: Bool { policy == .replace || answers.values.contains(.replace) }

    func policy(for name: EntryName) -> DuplicatePolicy { answers[name] ?? policy }

    /// Whether the user chose to skip the items with this name.
    func isDeclined(_ name: EntryName) -> Bool { answers[name] == .skip }
}
