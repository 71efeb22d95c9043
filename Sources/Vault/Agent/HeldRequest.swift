internal import OneTimePassword
internal import SecretVault
internal import VaultService
internal import WatchwordCryptography
internal import WatchwordSystem

/// A request of a client about a vault that the agent holds.
struct HeldRequest: RequestContext {
    let service: AgentServices
    let use: HeldVaults.Use
    let place: VaultPlace
    let presence: AgentPresence
    /// The person at the client.
    let person: RemotePerson
    let proofs: ClientProofs

    var vault: UnlockedVault { use.vault }
    var vaults: HeldVaults { service.vaults }
    var now: Int64 { service.unixTime() }

    var isHeld: Bool { vaults.isHeld(place, use.unlocking) }

    func countUse() { vaults.countUse(of: place, use.unlocking) }

    func noteUse(of id: RecordID) { proofs.use = UsedEntry(id, in: use, place, at: now) }

    /// Unlocking is no check: it may have been hours ago.
    var countsUnlocking: Bool { false }

    // Clients ask only before they prompt for a passphrase.
    var asksForGuess: Bool { true }

    func deriving<Result>(upTo ceiling: Int?, _ body: () throws -> Result) throws -> Result {
        try service.deriving(
            upTo: ceiling ?? Vault.defaultCeiling, while: { isHeld }, with: { vault.slots }, body)
    }
}

// What the client has proved.
extension HeldRequest {
    func reusableCheck(for entry: EntrySummary) -> DeviceKeyTranscript.Presence? {
        vaults.reusableCheck(for: entry, in: place, use.unlocking)
    }

    func recordCheck(of entry: EntrySummary, _ presence: DeviceKeyTranscript.Presence) {
        vaults.recordCheck(of: entry, presence, in: place, use.unlocking)
    }

    var isProved: Bool { proofs.repeated.contains { $0.isValid(in: use, place) } }

    func recordProof() {
        proofs.repeated.removeAll { $0.place == place }
        proofs.repeated.append(ClientProof(for: use, of: place))
    }

    var confirmed: [ConfirmedEntry] {
        proofs.confirmed.filter { $0.proof.isValid(in: use, place) }.map(\.check)
    }

    func confirm(_ id: RecordID, with check: ConfirmedEntry?) {
        proofs.confirmed.removeAll { $0.proof.place == place && $0.check.id == id }
        guard let check else { return }
        if proofs.confirmed.count >= ClientProofs.mostConfirmed { proofs.confirmed.removeFirst() }
        proofs.confirmed.append((check, ClientProof(for: use, of: place)))
    }

    func forgetConfirmed() { proofs.confirmed = [] }

    func shownCredential(of entry: EntrySummary) -> Credential? {
        let found = proofs.shown.first { shown in
            shown.id == entry.id && shown.place == place && shown.unlocking == use.unlocking
                && shown.access == entry.accessControl && shown.edited == entry.edited
                && entry.tombstone == nil
        }
        guard let found else { return nil }
        return vaults.shownCredential(found.credential, of: place)
    }

    func keepShown(_ credential: Credential, of entry: EntrySummary) throws {
        proofs.forgetShown(in: vaults) { $0.id == entry.id && $0.place == place }
        guard let number = vaults.keep(credential, of: place, use.unlocking) else {
            throw RequestRefusal(.notHeld)
        }
        if proofs.shown.count >= HeldVaults.mostShown { proofs.shown.removeFirst() }
        proofs.shown.append(
            ShownEntry(
                place: place, id: entry.id, unlocking: use.unlocking, access: entry.accessControl,
                edited: entry.edited, credential: number))
    }
}
