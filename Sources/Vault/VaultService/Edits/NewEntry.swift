package import SecretVault

/// An entry to add, unless its name is taken.
package struct NewEntry: Sendable {
    package let content: EntryContent
    package let details: EntryDetails
    package let accessControl: AccessControl

    package init(_ content: EntryContent, details: EntryDetails, accessControl: AccessControl) {
        self.content = content
        self.details = details
        self.accessControl = accessControl
    }

    func add(to changes: inout VaultChanges, now: Int64) throws(VaultError) -> EditOutcome {
        let name = EntryName(issuer: content.issuer, account: content.account)
        guard !changes.isTaken(name, exceptBy: nil) else { return .refused(.nameTaken(name)) }
        let twin = try changes.entries(withSecretOf: content).first
        try changes.add(content, details: details, accessControl: accessControl, now: now)
        return .added(twin: try twin.map { id throws(VaultError) in try changes.entry(id).name })
    }
}
