internal import Verification

extension StoreFailure {
    /// Classifies the server's failure for the operator (PostgreSQL manual, appendix A).
    init(_ failure: PostgreSQLFailure) {
        let kind: FailureKind =
            switch failure.code {
            case "row", "behind", "chain", "22003": .damaged
            case "newer": .newer
            case "53100": .full
            // A read-only transaction, or a role without the right to write.
            case "25006", "42501": .readOnly
            case _ where failure.isPassing || failure.isBusy: .busy
            // Violated constraints that no change's condition covers, values that do not fit their
            // column, missing tables, and unreadable pages.
            case let code where ["22", "23", "42", "XX"].contains { code.hasPrefix($0) }: .damaged
            default: .unavailable
            }
        self.init(kind, code: failure.code)
    }
}
