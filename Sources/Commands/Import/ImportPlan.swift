import OneTimePassword
import SecretVault

/// What is done about an entry that is there already.
enum DuplicatePolicy: String, Sendable { case skip, replace, keep }

/// What became of a finding.
enum ImportResult {
    case added(EntryName)
    case replaced(EntryName)
    /// Another entry gives the same codes.
    case skipped(EntryName, as: EntryName)
    case passedOver(Finding.Passing)
    case refused(Finding.Refusal)

    var isRefusal: Bool { if case .refused = self { true } else { false } }
}

/// Turns findings into changes of a vault.
///
/// Two entries are the same when they give the same codes: the same key, used in the same way, under
/// whatever names. An entry that shares only its name with another may be a newer enrolment or another
/// account: unless told what to do, it is refused, so that no key is lost in silence.
struct ImportPlan {
    let policy: DuplicatePolicy
    /// When the entries are added, in Unix seconds.
    let now: Int64
    /// The entries that ask at each use and whose owner agreed; `nil` while nobody was asked, and
    /// nothing will be saved.
    private let confirmed: Set<RecordID>?
    private var addedHere: Set<RecordID> = []
    /// Nobody has more entries with one key.
    private static let mostWithOneKey = 100
    /// The entries that ask at each use and would be replaced, in the order in which they come up.
    private var asking: [RecordID] = []

    /// A plan that replaces what asks at each use only where it is among `confirmed`.
    init(policy: DuplicatePolicy, now: Int64, confirmed: Set<RecordID>?) {
        self.policy = policy
        self.now = now
        self.confirmed = confirmed
    }

    /// The entries that ask at each use and that applying `findings` would replace.
    func replacedThatAsk(
        _ findings: [Finding], in changes: inout VaultChanges
    ) throws(VaultError) -> [RecordID] {
        var plan = self
        _ = try plan.take(findings, in: &changes)
        return plan.asking
    }

    /// Applies `findings`, and says what became of each.
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
            case .passedOver(let reason): results.append(.passedOver(reason))
            case .refused(let refusal): results.append(.refused(refusal))
            case .credential(let credential, _):
                do {
                    results.append(try take(credential, names: &names, in: &changes))
                } catch .overLimit(.name), .overLimit(.secret) {
                    // One monstrous label does not cost the others.
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
        // Each question about a key costs as much as there are entries with it.
        guard try changes.entries(withSecretOf: content).count < ImportPlan.mostWithOneKey else {
            return .refused(.keyTooOften)
        }
        let same = try changes.entries(equivalentTo: content)
        // The same picture twice in one run is one entry, whatever the policy is.
        if let twin = same.first(where: addedHere.contains) {
            return .skipped(name, as: try changes.entry(twin).name)
        }
        switch policy {
        case .skip:
            if let twin = same.first {
                return .skipped(name, as: try changes.entry(twin).name)
            }
            if names[name] != nil { return .refused(.nameTaken(name.visible)) }
        case .replace:
            // Of several that have the name, the one with the key.
            var named: RecordID?
            for id in same where named == nil {
                if try changes.entry(id).name == name { named = id }
            }
            if let id = named ?? names[name] ?? same.first {
                // What this run brought is not lost to what it brings next.
                guard !addedHere.contains(id) else { return .refused(.nameTwice(name.visible)) }
                let entry = try changes.entry(id)
                if entry.asksAtUse {
                    if let confirmed, !confirmed.contains(id) {
                        return .refused(.asksAtUse(name.visible))
                    }
                    asking.append(id)
                }
                let old = entry.name
                let new: RecordID
                if entry.tombstone == nil {
                    try changes.replace(id, with: changes.content(content, notBehind: id))
                    new = id
                } else {
                    // The record of a wiped entry never opens again: another one takes its place.
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
