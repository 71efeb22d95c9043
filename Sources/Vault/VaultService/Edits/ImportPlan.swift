internal import OneTimePassword
internal import SecretVault
internal import WatchwordCryptography

/// Applies an ``ImportEdit``, item by item.
struct ImportPlan {
    private let choices: DuplicateChoices
    private let confirmations: Confirmations
    /// The time of the import, in Unix seconds.
    private let now: Int64
    /// The first entry with each name.
    private var names: [EntryName: RecordID]
    private var addedHere: Set<RecordID> = []
    /// The replaced entries that require a check at each use, in order.
    private var asking: [RecordID] = []

    /// The maximum number of entries with the same key.
    private static let maximumEntriesPerKey = 100

    init(
        _ choices: DuplicateChoices, confirmedBy confirmations: Confirmations,
        of changes: VaultChanges, now: Int64
    ) {
        self.choices = choices
        self.confirmations = confirmations
        self.now = now
        names = changes.entries.reduce(into: [:]) { names, entry in
            names[entry.name] = names[entry.name] ?? entry.id
        }
    }

    /// Applies the items, and returns the outcome of each.
    mutating func apply(
        _ items: [ImportItem], to changes: inout VaultChanges
    ) throws(VaultError) -> EditOutcome {
        var outcomes: [ItemOutcome] = []
        let covered = changes.entries.filter(confirmations.cover)
        changes.findChecked(confirmations.entries.intersection(covered.map(\.id)))
        for item in items {
            do {
                outcomes.append(try take(item, in: &changes))
            } catch .overLimit(.name), .overLimit(.secret) {
                // An entry whose name or key is too long is refused, and the rest is imported.
                outcomes.append(.refused(.tooLong))
            }
        }
        return .imported(outcomes, replacedPerUse: asking)
    }

    private mutating func take(
        _ item: ImportItem, in changes: inout VaultChanges
    ) throws(VaultError) -> ItemOutcome {
        let content = item.content
        let name = EntryName(issuer: content.issuer, account: content.account)
        // The cost of each lookup grows with the number of entries with the key.
        guard try changes.entries(withSecretOf: content).count < ImportPlan.maximumEntriesPerKey
        else {
            return .refused(.keyRepeatedTooOften)
        }
        let same = try equivalents(of: content, in: &changes)
        let policy = choices.policy(for: name)
        // An item that occurs twice in one import becomes one entry, whatever the policy. If the
        // user keeps duplicates, items with different names stay separate entries.
        let added = same.filter(addedHere.contains)
        let twin =
            policy == .keep ? try entry(among: added, named: name, in: changes) : added.first
        if let twin { return try update(twin, from: item, name, in: &changes) }
        switch policy {
        case .skip:
            if let twin = try entry(among: same, named: name, in: changes) ?? same.first {
                return try update(twin, from: item, name, in: &changes)
            }
            // Entries of one import may share a name, as in the other app.
            if let id = names[name], !addedHere.contains(id) {
                guard !choices.isDeclined(name) else { return .declined(name) }
                let entry = try changes.entry(id)
                if isClosed(entry, in: changes) { return .refused(.boundElsewhere(name)) }
                return confirmations.cover(entry)
                    ? .refused(.nameTaken(name)) : .refused(.notCompared(name))
            }
        case .replace:
            // If several entries have the name, prefer the one with the same key.
            let named = try entry(among: same, named: name, in: changes)
            // Never replace an item of this import with a later one.
            if let id = named ?? names[name] ?? same.first, !addedHere.contains(id) {
                return try replace(id, with: item, name, in: &changes)
            }
        case .keep: break
        }
        let id = try changes.add(
            content, details: item.details, accessControl: item.origin?.accessControl,
            now: min(item.origin?.created ?? now, now))
        addedHere.insert(id)
        names[name] = names[name] ?? id
        return .added(name)
    }

    /// Whether an entry is bound to a device whose key is not here.
    private func isClosed(_ entry: EntrySummary, in changes: VaultChanges) -> Bool {
        guard entry.binding != nil else { return false }
        return switch changes.refusal(of: entry.id) {
        case .boundElsewhere?, .deviceKey?: true
        default: false
        }
    }

    private mutating func replace(
        _ id: RecordID, with item: ImportItem, _ name: EntryName, in changes: inout VaultChanges
    ) throws(VaultError) -> ItemOutcome {
        let entry = try changes.entry(id)
        if isClosed(entry, in: changes) { return .refused(.boundElsewhere(name)) }
        if entry.requiresCheckPerUse {
            guard confirmations.permitReplacing(entry) else {
                return .refused(.requiresCheckPerUse(name))
            }
            asking.append(id)
        }
        let new: RecordID
        let all = entry.details.adding(item.details)
        if entry.tombstone == nil {
            // A rehearsal must not reveal whether the keys are the same.
            let content =
                confirmations.cover(entry)
                ? try changes.content(item.content, notBehind: id) : item.content
            try changes.replace(id, with: content, now: now)
            if all != entry.details {
                try changes.setDetails(of: id, to: all, now: now)
            }
            new = id
        } else {
            // A wiped record never gets a secret again, so add a new record.
            try changes.remove(id, purge: false)
            new = try changes.add(
                item.content, details: all, accessControl: entry.accessControl, now: now)
        }
        addedHere.insert(new)
        if names[entry.name] == id { names[entry.name] = nil }
        names[name] = new
        return .replaced(name)
    }

    private func entry(
        among ids: [RecordID], named name: EntryName, in changes: VaultChanges
    ) throws(VaultError) -> RecordID? {
        for id in ids where try changes.entry(id).name == name { return id }
        return nil
    }

    /// The entries with the same codes; an entry without a PIN matches any PIN.
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

    /// Opens an entry; `nil` if it is damaged, because that must not stop the import.
    private func opened(
        _ id: RecordID, in changes: VaultChanges
    ) throws(VaultError) -> EntryContent? {
        do { return try changes.content(of: id) } catch .damaged { return nil }
    }

    /// Updates the entry `id` with a greater counter, a PIN or details from the item.
    private func update(
        _ id: RecordID, from item: ImportItem, _ name: EntryName, in changes: inout VaultChanges
    ) throws(VaultError) -> ItemOutcome {
        let entry = try changes.entry(id)
        var updates: [ImportUpdate] = []
        if let update = try updateState(of: id, from: item.content, in: &changes) {
            updates.append(update)
        }
        let all = entry.details.completed(by: item.details)
        if all != entry.details {
            try changes.setDetails(of: id, to: all, now: now)
            updates.append(.details)
        }
        var missing: [MissingDetail] = []
        if entry.details.hasOtherNote(than: item.details) { missing.append(.note) }
        if !item.details.tags.allSatisfy(all.tags.contains) { missing.append(.tag) }
        return updates.isEmpty
            ? .present(name, as: entry.name, missing: missing)
            : .updated(name, as: entry.name, updates, missing: missing)
    }

    /// Raises the counter of the entry `id` if that of `content` is greater, or adds a missing PIN.
    ///
    /// The other app may already have used the codes with lower counters.
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
