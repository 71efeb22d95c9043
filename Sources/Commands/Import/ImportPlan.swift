import Cryptography
import OneTimePassword
import SecretVault

/// The result of importing a finding.
enum ImportResult {
    case added(EntryName)
    case replaced(EntryName)
    /// Another entry has the same codes.
    case present(EntryName, as: EntryName, [ImportWarning])
    /// An entry with the same codes exists, and the item has a greater counter, a new PIN or more
    /// details.
    case updated(EntryName, as: EntryName, [ImportUpdate], [ImportWarning])
    /// The user chose to skip the item, because an entry with its name has another key.
    case declined(EntryName)
    case skipped(Finding.SkipReason)
    case refused(Finding.Refusal)

    var isRefusal: Bool { if case .refused = self { true } else { false } }

    /// What of the item is not in the vault.
    var warnings: [ImportWarning] {
        switch self {
        case .present(_, _, let warnings), .updated(_, _, _, let warnings): warnings
        case .added, .replaced, .declined, .skipped, .refused: []
        }
    }

    /// Whether the user must know about the item even if it is one of many.
    var isNotable: Bool {
        switch self {
        case .declined, .skipped, .refused: true
        case .added, .replaced, .present, .updated: false
        }
    }
}

/// What an item adds to an entry that is already in the vault.
enum ImportUpdate: Hashable {
    case counter(from: UInt64, to: UInt64)
    /// The PIN of a code that is not computed.
    case pin
    /// Tags, the favourite mark, or a note or an icon where there was none.
    case details
}

/// Turns findings into changes to a vault.
///
/// Two entries are the same if they have the same codes, that is, the same key and parameters;
/// names do not matter. If only the names are the same, the item may be a newer enrolment or
/// another account. It is refused unless the user chose otherwise, so that no key is lost
/// silently.
struct ImportPlan {
    let choices: DuplicateChoices
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
    init(choices: DuplicateChoices, now: Int64, confirmed: Set<RecordID>?) {
        self.choices = choices
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

    /// The names of the items that are refused because an entry with the name has another key.
    func takenNames(
        _ findings: [Finding], in changes: inout VaultChanges
    ) throws(VaultError) -> [EntryName] {
        var plan = self
        var names: [EntryName] = []
        var seen: Set<EntryName> = []
        for result in try plan.take(findings, in: &changes) {
            if case .refused(.nameTaken(let name)) = result, seen.insert(name).inserted {
                names.append(name)
            }
        }
        return names
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
            case .entry(let content, let details, _):
                let origin = finding.origin
                do {
                    results.append(try take(content, details, origin, names: &names, in: &changes))
                } catch .overLimit(.name), .overLimit(.secret) {
                    // Refuse an entry whose name or key is too long, but import the rest.
                    results.append(.refused(.tooLong))
                }
            }
        }
        return results
    }

    private mutating func take(
        _ content: EntryContent, _ details: EntryDetails, _ origin: Finding.Origin?,
        names: inout [EntryName: RecordID],
        in changes: inout VaultChanges
    ) throws(VaultError) -> ImportResult {
        let name = EntryName(issuer: content.issuer, account: content.account)
        // The cost of each lookup grows with the number of entries with the key.
        guard try changes.entries(withSecretOf: content).count < ImportPlan.maximumEntriesPerKey
        else {
            return .refused(.keyRepeatedTooOften)
        }
        let same = try equivalents(of: content, in: &changes)
        // The same item twice in one import is one entry, whatever the policy.
        if let twin = same.first(where: addedHere.contains) {
            return try update(twin, from: content, details, name, in: &changes)
        }
        switch choices.policy(for: name) {
        case .skip:
            if let twin = try entry(among: same, named: name, in: changes) ?? same.first {
                return try update(twin, from: content, details, name, in: &changes)
            }
            // Entries of one import may have the same name, as they have in the other app.
            if let id = names[name], !addedHere.contains(id) {
                return choices.isDeclined(name)
                    ? .declined(name) : .refused(.nameTaken(name))
            }
        case .replace:
            // If several entries have the name, prefer the one with the same key.
            let named = try entry(among: same, named: name, in: changes)
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
                let all = entry.details.adding(details)
                if entry.tombstone == nil {
                    try changes.replace(
                        id, with: changes.content(content, notBehind: id), now: now)
                    if all != entry.details {
                        try changes.setDetails(of: id, to: all, now: now)
                    }
                    new = id
                } else {
                    // A wiped record can never be opened again, so add a new one.
                    try changes.remove(id, purge: false)
                    new = try changes.add(
                        content, details: all, accessControl: entry.accessControl, now: now)
                }
                addedHere.insert(new)
                if names[old] == id { names[old] = nil }
                names[name] = new
                return .replaced(name)
            }
        case .keep: break
        }
        let id = try changes.add(
            content, details: details, accessControl: origin?.accessControl,
            now: min(origin?.created ?? now, now))
        addedHere.insert(id)
        names[name] = names[name] ?? id
        return .added(name)
    }

    private func entry(
        among ids: [RecordID], named name: EntryName, in changes: VaultChanges
    ) throws(VaultError) -> RecordID? {
        for id in ids where try changes.entry(id).name == name { return id }
        return nil
    }

    /// The entries with the same codes; the PINs of codes that are not computed are compared only
    /// if both are known.
    private func equivalents(
        of content: EntryContent, in changes: inout VaultChanges
    ) throws(VaultError) -> [RecordID] {
        let same = try changes.entries(equivalentTo: content)
        guard case .uncomputed(let code) = content, let pin = code.pin else { return same }
        var alike: [RecordID] = []
        for id in same {
            guard case .uncomputed(let old) = try opened(id, in: changes) else { continue }
            if old.pin.map({ $0 == pin }) ?? true { alike.append(id) }
        }
        return alike
    }

    /// Opens an entry; `nil` if it is damaged, which must not stop the import.
    private func opened(
        _ id: RecordID, in changes: VaultChanges
    ) throws(VaultError) -> EntryContent? {
        do { return try changes.content(of: id) } catch .damaged { return nil }
    }

    /// Updates the entry `id` with what the item has of it.
    private func update(
        _ id: RecordID, from content: EntryContent, _ details: EntryDetails, _ name: EntryName,
        in changes: inout VaultChanges
    ) throws(VaultError) -> ImportResult {
        let entry = try changes.entry(id)
        var updates: [ImportUpdate] = []
        if let update = try updateState(of: id, from: content, in: &changes) {
            updates.append(update)
        }
        let all = entry.details.completed(by: details)
        if all != entry.details {
            try changes.setDetails(of: id, to: all, now: now)
            updates.append(.details)
        }
        var warnings: [ImportWarning] = []
        if entry.details.hasOtherNote(than: details) { warnings.append(.otherNote) }
        if !details.tags.allSatisfy(all.tags.contains) { warnings.append(.leftOut(.tag)) }
        return updates.isEmpty
            ? .present(name, as: entry.name, warnings)
            : .updated(name, as: entry.name, updates, warnings)
    }

    /// Raises the counter of the entry `id`, or adds its PIN, if `content` has a greater counter or
    /// a new PIN.
    ///
    /// The other app may already have used the codes of lower counters.
    private func updateState(
        of id: RecordID, from content: EntryContent, in changes: inout VaultChanges
    ) throws(VaultError) -> ImportUpdate? {
        switch content {
        case .oneTimePassword(let credential):
            guard case .counter(let new) = credential.movingFactor,
                case .oneTimePassword(let old) = try opened(id, in: changes),
                case .counter(let reached) = old.movingFactor, new > reached
            else { return nil }
            try changes.raiseCounter(of: id, to: new)
            return .counter(from: reached, to: new)
        case .uncomputed(let code):
            guard code.pin != nil, case .uncomputed(let old) = try opened(id, in: changes),
                old.pin == nil
            else { return nil }
            let completed = UncomputedCode(
                kind: old.kind, issuer: old.issuer, account: old.account, secret: old.secret,
                pin: code.pin)
            try changes.replace(id, with: .uncomputed(completed), now: now)
            return .pin
        case .plainSecret, .enrolledSecret: return nil
        }
    }
}
