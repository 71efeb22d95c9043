import OneTimePassword
import SecretVault

/// What to do with an item whose entry already exists.
enum DuplicatePolicy: String, Sendable { case skip, replace, keep }

/// The result of importing a finding.
enum ImportResult {
    case added(EntryName)
    case replaced(EntryName)
    /// Another entry has the same codes.
    case present(EntryName, as: EntryName)
    case skipped(Finding.SkipReason)
    case refused(Finding.Refusal)

    var isRefusal: Bool { if case .refused = self { true } else { false } }

    /// Whether the user must know about the item even if it is one of many.
    var isNotable: Bool {
        switch self {
        case .skipped, .refused: true
        case .added, .replaced, .present: false
        }
    }
}

/// Turns findings into changes to a vault.
///
/// Two entries are the same if they have the same codes, that is, the same key and parameters;
/// names do not matter. If only the names are the same, the item may be a newer enrolment or
/// another account. It is refused unless the policy says otherwise, so that no key is lost
/// silently.
struct ImportPlan {
    let policy: DuplicatePolicy
    /// When the entries are added, in Unix seconds.
    let now: Int64
    /// The per-use entries that the user confirmed; `nil` in a rehearsal, which saves nothing.
    private let confirmed: Set<RecordID>?
    private var addedHere: Set<RecordID> = []
    /// The maximum number of entries with one key.
    private static let maximumEntriesPerKey = 100
    /// The per-use entries to be replaced, in order.
    private var asking: [RecordID] = []

    /// Creates a plan that replaces per-use entries only if they are in `confirmed`.
    init(policy: DuplicatePolicy, now: Int64, confirmed: Set<RecordID>?) {
        self.policy = policy
        self.now = now
        self.confirmed = confirmed
    }

    /// The per-use entries that `findings` would replace.
    func replacedThatRequireCheck(
        _ findings: [Finding], in changes: inout VaultChanges
    ) throws(VaultError) -> [RecordID] {
        var plan = self
        _ = try plan.take(findings, in: &changes)
        return plan.asking
    }

    /// Applies `findings` and returns the result of each.
    func apply(_ findings: [Finding], to changes: inout VaultChanges) throws(VaultError)
        -> [ImportResult]
    {
        var plan = self
        return try plan.take(findings, in: &changes)
    }

    private mutating func take(
        _ findings: [Finding], in changes: inout VaultChanges
    ) throws(VaultError) -> [ImportResult] {
        var names = changes.entries.reduce(into: [EntryName: RecordID]()) { names, entry in
            names[entry.name] = names[entry.name] ?? entry.id
        }
        var results: [ImportResult] = []
        for finding in findings {
            switch finding.content {
            case .skipped(let reason): results.append(.skipped(reason))
            case .refused(let refusal): results.append(.refused(refusal))
            case .credential(let credential, _):
                do {
                    results.append(try take(credential, names: &names, in: &changes))
                } catch .overLimit(.name), .overLimit(.secret) {
                    // Refuse an entry whose name or key is too long, but import the rest.
                    results.append(.refused(.tooLong))
                }
            }
        }
        return results
    }

    private mutating func take(
        _ credential: Credential, names: inout [EntryName: RecordID],
        in changes: inout VaultChanges
    ) throws(VaultError) -> ImportResult {
        let name = EntryName(issuer: credential.issuer, account: credential.account)
        let content = EntryContent.oneTimePassword(credential)
        // The cost of each lookup grows with the number of entries with the key.
        guard try changes.entries(withSecretOf: content).count < ImportPlan.maximumEntriesPerKey
        else {
            return .refused(.keyRepeatedTooOften)
        }
        let same = try changes.entries(equivalentTo: content)
        // The same item twice in one import is one entry, whatever the policy.
        if let twin = same.first(where: addedHere.contains) {
            return .present(name, as: try changes.entry(twin).name)
        }
        switch policy {
        case .skip:
            if let twin = same.first {
                return .present(name, as: try changes.entry(twin).name)
            }
            // Entries of one import may have the same name, as they have in the other app.
            if let id = names[name], !addedHere.contains(id) {
                return .refused(.nameTaken(name.visible))
            }
        case .replace:
            // If several entries have the name, prefer the one with the same key.
            var named: RecordID?
            for id in same where named == nil {
                if try changes.entry(id).name == name { named = id }
            }
            // Never replace an item of this import with a later one.
            if let id = named ?? names[name] ?? same.first, !addedHere.contains(id) {
                let entry = try changes.entry(id)
                if entry.requiresCheckPerUse {
                    if let confirmed, !confirmed.contains(id) {
                        return .refused(.requiresCheckPerUse(name.visible))
                    }
                    asking.append(id)
                }
                let old = entry.name
                let new: RecordID
                if entry.tombstone == nil {
                    try changes.replace(id, with: changes.content(content, notBehind: id))
                    new = id
                } else {
                    // A wiped record can never be opened again, so add a new one.
                    try changes.remove(id, purge: false)
                    new = try changes.add(content, accessControl: entry.accessControl, now: now)
                }
                addedHere.insert(new)
                if names[old] == id { names[old] = nil }
                names[name] = new
                return .replaced(name)
            }
        case .keep: break
        }
        let id = try changes.add(content, now: now)
        addedHere.insert(id)
        names[name] = names[name] ?? id
        return .added(name)
    }
}
