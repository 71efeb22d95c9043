internal import SecretVault
internal import WatchwordCryptography

// Checks, rehearses and makes changes to a vault.
extension RequestContext {
    /// Checks presence for an entry that the next edit changes.
    func confirm(_ id: RecordID) throws -> AgentResponse {
        let entry = try vault.entry(id)
        let checked = try checked(entry)
        countUse()
        // Other entries can be changed without a check.
        confirm(id, with: entry.requiresCheckPerUse ? ConfirmedEntry(entry, checked) : nil)
        return .done
    }

    /// Checks presence for a change of an entry.
    ///
    /// An entry that has vanished cannot be opened after its check; if it requires no check, it is
    /// refused here. An entry that is bound to a device whose key is not here keeps its secret,
    /// whatever changes.
    private func checked(_ entry: EntrySummary) throws -> DeviceKeyTranscript.Presence {
        try loadKeys(of: [entry])
        do {
            return try checkedAndOpened(entry).presence
        } catch VaultError.vanished where entry.requiresCheckPerUse,
            VaultError.boundElsewhere, VaultError.deviceKey
        {
            return .none
        }
    }

    /// The outcome of an edit that is not saved, as if an import could replace every entry.
    ///
    /// The outcome reveals nothing about entries that require a check at each use.
    func rehearse(_ edit: VaultEdit) throws -> AgentResponse {
        try loadKeys(for: edit)
        let outcome = try vault.rehearse { changes throws(VaultError) in
            try edit.apply(to: &changes, confirmedBy: .assumed, now: now)
        }
        // Nothing was saved, so the outcome is not returned if the vault was locked meanwhile.
        try expectHeld()
        return .edited(outcome, [])
    }

    /// Changes the vault in one save, after the check that the edit requires.
    func edit(_ edit: VaultEdit) throws -> AgentResponse {
        var confirmed = confirmed
        forgetConfirmed()
        try loadKeys(for: edit)
        if let id = edit.confirmedEntry, !presence.isNone,
            !confirmed.contains(where: { $0.id == id })
        {
            let entry = try vault.entry(id)
            if entry.requiresCheckPerUse {
                confirmed.append(ConfirmedEntry(entry, try checked(entry)))
            }
        }
        let confirmations = Confirmations(confirmed)
        if case .revise(let revision) = edit, revision.binding != nil || revision.fingers != nil {
            let isCovered = confirmations.cover(try vault.entry(revision.id))
            guard isCovered else { throw VaultError.presenceNeeded }
        }
        // If the system does not report the fingers, nothing is changed.
        let fingers = try edit.fingers.flatMap(fingersToRequire)
        let device = try edit.binding.map(deviceKey)
        let saved = try vault.update { changes throws(VaultError) -> EditOutcome? in
            // The save may have waited for another writer.
            guard isHeld else { return nil }
            // The change would reveal future codes, which require this proof, too.
            if case .revise(let revision) = edit, revision.changesCodesOfKey {
                let entry = try changes.entry(revision.id)
                guard entry.requiresCheckPerUse || entry.tombstone != nil || isProved else {
                    throw .presenceNeeded
                }
            }
            let outcome = try edit.apply(
                to: &changes, confirmedBy: confirmations, now: now, bindingTo: device)
            if case .refused = outcome { return outcome }
            // The entry must not be saved without its requested protection.
            if let fingers, let id = edit.confirmedEntry ?? changes.entries.last?.id {
                try setFingers(fingers, of: id, among: changes.entries)
            }
            return outcome
        }
        guard let outcome = saved else { throw RequestRefusal(.notHeld) }
        countUse()
        // Remove the protection only after a successful edit.
        if case .revised = outcome, edit.fingers == false, let id = edit.confirmedEntry {
            try setFingers(nil, of: id, among: nil)
        }
        return .edited(outcome, vault.saveReports)
    }

    /// Loads the keys that a change needs; a change to a secret that does not open is refused.
    private func loadKeys(for edit: VaultEdit) throws {
        switch edit {
        // New entries are compared with all existing ones.
        case .add, .importing: try loadKeys()
        case .revise(let revision) where revision.needsSecret:
            try loadKey(of: try vault.entry(revision.id))
        case .rename, .remove, .revise: break
        }
    }
}
