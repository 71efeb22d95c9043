internal import OneTimePassword

extension ExportedEntry {
    /// The issuer; may be empty.
    var issuer: String {
        switch content {
        case .oneTimePassword(let credential): credential.issuer
        case .notComputed(let code): code.issuer
        }
    }

    /// The account; may be empty.
    var account: String {
        switch content {
        case .oneTimePassword(let credential): credential.account
        case .notComputed(let code): code.account
        }
    }
}
