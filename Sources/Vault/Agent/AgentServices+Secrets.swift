internal import SecretVault
internal import VaultService
internal import WatchwordSystem

/// A connection's further proof of what opens a vault, which showing secrets, codes of the future,
/// and changing which codes a key gives require.
struct RepeatedProof {
    let place: VaultPlace
    /// The unlocking of the vault at that time.
    let unlocking: UInt64
    let end: Moment

    /// How long one proof allows a client to show secrets: an export may ask for further checks and
    /// for a password in the meantime.
    static let lifetime = Duration.seconds(300)
}

// Secrets, for the verbs whose purpose is to show one.
extension AgentServices {
    /// Checks again what opens the vault; failures count as those of unlocking do.
    func prove(
        _ opener: VaultOpener, ceiling: Int, in use: HeldVaults.Use, _ place: VaultPlace,
        _ proofs: inout [RepeatedProof]
    ) throws(EntryRefusal) -> AgentResponse {
        try EntryRefusal.from { () throws(VaultError) in
            try deriving(
                upTo: ceiling, while: { vaults.isHeld(place, use.unlocking) },
                with: { use.vault.slots }
            ) { () throws(VaultError) in
                try use.vault.confirm(opener, ceiling: ceiling)
            }
        }
        proofs.removeAll { $0.place == place }
        proofs.append(
            RepeatedProof(
                place: place, unlocking: use.unlocking, end: .now + RepeatedProof.lifetime))
        return .done
    }

    /// Whether the connection has proved again what opens the vault.
    func isProved(
        _ proofs: [RepeatedProof], in use: HeldVaults.Use, _ place: VaultPlace
    ) -> Bool {
        proofs.contains { proof in
            proof.place == place && proof.unlocking == use.unlocking
                && proof.end.timeRemaining > .zero
        }
    }

    /// Opens entries for a client that shows their secrets, after the check that each requires.
    func contents(
        of ids: [RecordID], in use: HeldVaults.Use, _ place: VaultPlace,
        _ presence: AgentPresence, _ person: RemotePerson, _ proofs: [RepeatedProof]
    ) throws(EntryRefusal) -> AgentResponse {
        guard isProved(proofs, in: use, place) else { throw .vault(.presenceNeeded) }
        // Each check is for one entry.
        guard ids.count == 1 || presence.isNone else { throw .vault(.presenceNeeded) }
        var contents: [EntryContent] = []
        for id in ids {
            guard vaults.isHeld(place, use.unlocking) else { throw .notHeld }
            let entry = try EntryRefusal.from { () throws(VaultError) in try use.vault.entry(id) }
            // The server must never see an enrolled secret from two holders.
            guard entry.kind != .enrolled else { throw .vault(.otherKind) }
            contents.append(try opened(entry, in: use, place, presence, person).content)
        }
        vaults.countUse(of: place, use.unlocking)
        return .contents(contents)
    }
}
