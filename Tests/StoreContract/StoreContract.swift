public import Verification

/// What every store must do, as a list of rules that each store's tests go through.
public enum StoreContract {
    /// A store that a rule is tried on: new, and with nothing in it.
    public struct Subject: Sendable {
        /// The store.
        public let store: any VerificationStore
        /// The same store, as another process would have opened it; the store itself where there is
        /// no such thing.
        public let second: any VerificationStore
        /// The key that ties its events together.
        public let key: AuditKey

        /// Takes a store.
        public init(
            _ store: any VerificationStore, second: (any VerificationStore)? = nil, key: AuditKey
        ) {
            self.store = store
            self.second = second ?? store
            self.key = key
        }
    }

    /// One rule.
    public struct Rule: Sendable, CustomStringConvertible {
        /// What must hold, as a sentence.
        public let description: String
        /// Tries it; throws a ``ContractBreach`` where it does not hold.
        public let check: @Sendable (Subject) async throws -> Void

        init(_ description: String, _ check: @escaping @Sendable (Subject) async throws -> Void) {
            self.description = description
            self.check = check
        }
    }

    /// Every rule.
    public static let rules =
        credentialRules + commitRules + readingRules + eventRules + pruningRules + raceRules
}

/// A rule that a store breaks.
public struct ContractBreach: Error, CustomStringConvertible {
    /// What was expected, and where.
    public let description: String
}

/// Stops a rule that does not hold.
func expect(
    _ holds: Bool, _ what: String, file: StaticString = #fileID, line: UInt = #line
) throws(ContractBreach) {
    guard holds else { throw ContractBreach(description: "\(file):\(line): \(what)") }
}

/// Stops a rule when two values differ.
func expectEqual<Value: Equatable>(
    _ found: Value, _ expected: Value, file: StaticString = #fileID, line: UInt = #line
) throws(ContractBreach) {
    try expect(found == expected, "\(found) instead of \(expected)", file: file, line: line)
}
