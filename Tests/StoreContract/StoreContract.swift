public import Verification

/// The rules that every store must follow; each store's tests run them all.
public enum StoreContract {
    /// The store that a rule is checked on: new and empty.
    public struct Subject: Sendable {
        /// The store of the first process.
        public let store: any VerificationStore
        /// The same store as opened by a second process; the store itself if this is impossible.
        public let second: any VerificationStore
        /// The key that authenticates the store's events.
        public let key: AuditKey

        /// Combines the stores and the key; `second` is the same store, opened by a second process.
        public init(
            _ store: any VerificationStore, second: (any VerificationStore)? = nil, key: AuditKey
        ) {
            self.store = store
            self.second = second ?? store
            self.key = key
        }
    }

    /// A rule, and what it is checked on.
    public struct RuleAbout<Checked: Sendable>: Sendable, CustomStringConvertible {
        /// The rule, as a sentence.
        public let description: String
        /// Checks the rule; throws a ``ContractBreach`` if it is broken.
        public let check: @Sendable (Checked) async throws -> Void

        init(_ description: String, _ check: @escaping @Sendable (Checked) async throws -> Void) {
            self.description = description
            self.check = check
        }
    }

    /// A rule that every store must follow.
    public typealias Rule = RuleAbout<Subject>

    /// Every rule, in the order of the suites.
    public static let rules =
        credentialRules + commitRules + challengeRules + readingRules + eventRules + pruningRules
        + raceRules
}

/// A rule that a store broke.
public struct ContractBreach: Error, CustomStringConvertible {
    /// The expectation, and its place in the source.
    public let description: String
}

/// Fails the rule if a condition does not hold.
func expect(
    _ holds: Bool, _ what: String, file: StaticString = #fileID, line: UInt = #line
) throws(ContractBreach) {
    guard holds else { throw ContractBreach(description: "\(file):\(line): \(what)") }
}

/// Fails the rule if two values differ.
func expectEqual<Value: Equatable>(
    _ found: Value, _ expected: Value, file: StaticString = #fileID, line: UInt = #line
) throws(ContractBreach) {
    try expect(found == expected, "\(found) instead of \(expected)", file: file, line: line)
}
