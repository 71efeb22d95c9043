internal import SecretVault
internal import VaultService
internal import WatchwordCryptography
internal import WatchwordSystem

/// An entry that the next edit on a connection may change, after a presence check.
struct ConfirmedEntry {
    let place: VaultPlace
    /// The unlocking of the vault in which presence was checked.
    let unlocking: UInt64
    let id: RecordID
    /// The check that the entry required at that time.
    let required: AccessControl.Presence
    /// How presence was checked.
    let presence: DeviceKeyTranscript.Presence
    let end: Moment

    /// How long the check counts: an import may ask for others in the meantime.
    static let lifetime = RepeatedProof.lifetime
    /// The number of entries that a connection keeps; an import replaces no more after checks.
    static let most = 1000

    /// - Parameter end: until when the check counts.
    init(
        _ entry: EntrySummary, in place: VaultPlace, since unlocking: UInt64,
        _ presence: DeviceKeyTranscript.Presence, until end: Moment = .now + lifetime
    ) {
        self.place = place
        self.unlocking = unlocking
        id = entry.id
        required = entry.accessControl.presence
        self.presence = presence
        self.end = end
    }

    /// Whether the check still counts for the vault at `place`.
    func isValid(in use: HeldVaults.Use, _ place: VaultPlace) -> Bool {
        self.place == place && unlocking == use.unlocking && end.timeRemaining > .zero
    }
}

extension Confirmations {
    init(_ entries: [ConfirmedEntry]) {
        self.init(of: entries.map { ($0.id, $0.required) })
    }
}

// Changes of a vault.
extension AgentServices {
    /// Checks presence for an entry that the next edit on the connection changes.
    func confirm(
        _ id: RecordID, in use: HeldVaults.Use, _ place: VaultPlace, _ presence: AgentPresence,
        _ person: RemotePerson, _ confirmed: inout [ConfirmedEntry]
    ) throws(EntryRefusal) -> AgentResponse {
        let entry = try EntryRefusal.from { () throws(VaultError) in try use.vault.entry(id) }
        let checked = try checked(entry, in: use, place, presence, person)
        vaults.countUse(of: place, use.unlocking)
        confirmed.removeAll { $0.place == place && $0.id == id }
        // Others change without a check.
        if entry.requiresCheckPerUse {
            if confirmed.count >= ConfirmedEntry.most { confirmed.removeFirst() }
            confirmed.append(ConfirmedEntry(entry, in: place, since: use.unlocking, checked))
        }
        return .done
    }

    /// Checks presence for a change of an entry; one that has vanished cannot be opened after that.
    private func checked(
        _ entry: EntrySummary, in use: HeldVaults.Use, _ place: VaultPlace,
        _ presence: AgentPresence, _ person: RemotePerson
    ) throws(EntryRefusal) -> DeviceKeyTranscript.Presence {
        do {
            return try opened(entry, in: use, place, presence, person).presence
        } catch .vault(.vanished) where entry.requiresCheckPerUse {
            return .none
        }
    }

    /// The outcome of an edit that is not saved, as if an import could replace every entry.
    ///
    /// It reveals nothing about an entry that requires a check at each use.
    func rehearse(
        _ edit: VaultEdit, in use: HeldVaults.Use, _ place: VaultPlace
    ) throws(EntryRefusal) -> AgentResponse {
        let outcome = try EntryRefusal.from { () throws(VaultError) in
            try use.vault.rehearse { changes throws(VaultError) in
                try edit.apply(to: &changes, confirmedBy: .assumed, now: unixTime())
            }
        }
        // Nothing was saved, so a vault that was locked meanwhile tells nothing.
        guard vaults.isHeld(place, use.unlocking) else { throw .notHeld }
        return .edited(outcome, [])
    }

    /// Changes the vault in one save, after the check that the edit requires.
    func edit(
        _ edit: VaultEdit, in use: HeldVaults.Use, _ place: VaultPlace,
        _ presence: AgentPresence, _ person: RemotePerson, _ earlier: inout [ConfirmedEntry],
        _ proofs: [RepeatedProof]
    ) throws(EntryRefusal) -> AgentResponse {
        let vault = use.vault
        // Each check counts for one edit only.
        var confirmed = earlier.filter { $0.isValid(in: use, place) }
        earlier = []
        if let id = edit.confirmedEntry, !presence.isNone,
            !confirmed.contains(where: { $0.id == id })
        {
            let entry = try EntryRefusal.from { () throws(VaultError) in try vault.entry(id) }
            if entry.requiresCheckPerUse {
                let checked = try checked(entry, in: use, place, presence, person)
                confirmed.append(ConfirmedEntry(entry, in: place, since: use.unlocking, checked))
            }
        }
        let confirmations = Confirmations(confirmed)
        let saved = try EntryRefusal.from { () throws(VaultError) in
            try vault.update { changes throws(VaultError) -> EditOutcome? in
                // The save may have waited for another writer.
                guard vaults.isHeld(place, use.unlocking) else { return nil }
                // Codes of the future require this proof, too.
                if case .revise(let revision) = edit, revision.changesCodesOfKey {
                    let entry = try changes.entry(revision.id)
                    guard
                        entry.requiresCheckPerUse || entry.tombstone != nil
                            || isProved(proofs, in: use, place)
                    else { throw .presenceNeeded }
                }
                return try edit.apply(
                    to: &changes, confirmedBy: confirmations, now: unixTime())
            }
        }
        guard let outcome = saved else { throw .notHeld }
        vaults.countUse(of: place, use.unlocking)
        return .edited(outcome, vault.saveReports)
    }
}
