internal import DeviceLogin
package import SecretVault
internal import WatchwordCryptography
internal import WatchwordSystem

/// The files that a merge in this process uses in addition to its request.
package struct MergeFiles: Sendable {
    /// The other file, if it was opened here; the vault's key may be unable to open it.
    package let copy: VaultCopy?
    /// The path of a copy of the vault to which the result is written; `nil` changes the vault.
    package let target: String?

    package init(copy: VaultCopy? = nil, target: String? = nil) {
        self.copy = copy
        self.target = target
    }
}

// Undoing and merging take entries from another generation of the vault. The client receives the
// plan, makes the required checks, and sends the same request with the plan. If the effect has
// changed meanwhile, nothing is changed.
extension RequestContext {
    /// Undoes the last change.
    ///
    /// - Parameter seen: the plan as shown to the owner; `nil` asks for the plan, and changes
    ///   nothing.
    func undo(_ seen: [UndoneChange]?) throws -> AgentResponse {
        let checked = takeChecked(changes: seen != nil)
        try loadAllKeys()
        let restores = vault.reports.contains { if case .vanished = $0 { true } else { false } }
        let plan = try vault.planOfUndo(now: now)
        // The plan is returned only while the vault is held.
        try expectHeld()
        guard let seen else { return .undone(plan, onlyRestores: restores, []) }
        guard seen == plan else { throw VaultError.busy }
        try expectProof(if: plan.contains(where: \.changesCodesOfKey))
        try vault.undo(plan, confirmed: checked, now: now)
        countUse()
        return .undone(plan, onlyRestores: restores, vault.saveReports)
    }

    /// Merges another file of the vault.
    func merge(_ request: MergeRequest) throws -> AgentResponse {
        let checked = takeChecked(changes: request.seen != nil)
        let files = mergeFiles
        guard let copy = try files.copy ?? vault.copy(ofUntrusted: request.file) else {
            return .otherKey
        }
        try loadAllKeys()
        let forks = ForkedEnrolments()
        let plan = try vault.planOfMerge(
            with: copy, accepting: Set(request.acceptedWipes),
            takingOldEdits: request.takesOldEdits, comparing: forks.order, now: now)
        try expectHeld()
        guard let seen = request.seen else { return .merged(plan.outline, []) }
        guard seen == plan.changes else { throw VaultError.busy }
        // An old file may restore data that was removed long ago.
        try expectProof(
            if: request.takesOldEdits || plan.changes.contains(where: \.changesCodesOfKey))
        guard plan.changes.allSatisfy({ !$0.requiresCheck || checked.contains($0.id) }) else {
            throw VaultError.presenceNeeded
        }
        // A secret that two devices have presented must not be presented again, even if the merge
        // fails.
        try forks.markStale(in: vault)
        if let target = files.target {
            try vault.merge(
                plan, confirmed: checked, into: target, comparing: forks.order, now: now)
        } else {
            let former = vault.entries
            try vault.merge(plan, confirmed: checked, comparing: forks.order, now: now)
            try keepFingers(of: former, in: plan.changes)
        }
        countUse()
        return .merged(plan.outline, vault.saveReports)
    }

    /// The entries whose checks succeeded on this connection, and whose access control is still the
    /// same.
    ///
    /// - Parameter changes: whether this request uses up the checks; each check counts for one
    ///   request.
    private func takeChecked(changes: Bool) -> Set<RecordID> {
        let confirmations = Confirmations(confirmed)
        if changes { forgetConfirmed() }
        return Set(
            vault.entries.filter {
                confirmations.entries.contains($0.id) && confirmations.cover($0)
            }.map(\.id))
    }

    /// Requires the same proof as codes of the future if a key will produce different codes.
    private func expectProof(if isNeeded: Bool) throws {
        guard !isNeeded || isProved else { throw VaultError.presenceNeeded }
    }

    /// Loads all keys of this device for the vault, because different entries may be bound in the
    /// other generation.
    private func loadAllKeys() throws {
        for device in deviceKeys.homes(of: vault) {
            // The vault records the reason for a failure.
            _ = ifPossible(try deviceKeys.load(device, for: vault, through: tokens(at:)))
        }
        try expectHeld()
    }

    /// Makes the second copy of an entry require the fingers that the entry requires.
    private func keepFingers(of former: [EntrySummary], in changes: [MergeChange]) throws {
        let known = Set(former.map(\.id))
        for change in changes {
            guard case .keptBoth(let copy) = change.action else { continue }
            let keep = keepingFingers(of: former.filter { $0.id == change.id })
            for second in vault.entries
            where !known.contains(second.id)
                && (second.issuer, second.account) == (copy.issuer, copy.account)
            {
                try keep(second.id)
            }
        }
    }
}

extension UnlockedVault {
    /// Another file of this vault, from a client; `nil` if its key is different.
    ///
    /// - Throws: ``VaultError/copyDamaged(_:)`` for a damaged file.
    fileprivate func copy(ofUntrusted file: [UInt8]) throws(VaultError) -> VaultCopy? {
        do throws(VaultError) { return try copy(of: file) } catch .damaged(let part) {
            throw .copyDamaged(part)
        }
    }
}

/// The enrolled secrets that were presented from both copies, found by comparing them.
private final class ForkedEnrolments {
    private var states: [SecretBytes] = []

    func order(_ first: SecretBytes, _ second: SecretBytes) -> EnrolledOrder {
        let order = EnrolledSecret.order(of: first, second)
        if order == .forked { states.append(first) }
        return order
    }

    func markStale(in vault: UnlockedVault) throws {
        for state in states { try EnrolledSecret.markStale(state, in: vault) }
    }
}
