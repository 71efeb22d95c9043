internal import Verification

extension StoreFailure {
    /// What the server's failure means to an operator (PostgreSQL's manual, appendix A).
    init(_ failure: PostgreSQLFailure) {
        let trouble: Trouble =
            switch failure.code {
            case "row", "behind", "chain", "22003": .damaged
            case "newer": .newer
            case "53100": .full
            // A transaction that may not write, or a role.
            case "25006", "42501": .readOnly
            case _ where failure.isPassing || failure.isBusy: .busy
            // Constraints that the conditions of a change do not cover, values that no column takes,
            // tables that are not there, and pages that can't be read.
            case let code where ["22", "23", "42", "XX"].contains { code.hasPrefix($0) }: .damaged
            default: .unavailable
            }
        self.init(trouble, code: failure.code)
    }
}
