internal import SecretVault
internal import VaultService

// Finding the entries that a person named.
extension AgentServices {
    /// Lists the entries that `names` find, or all if one of them does not find exactly one, so that
    /// the client can say why; without their last uses.
    ///
    /// - Parameters:
    ///   - time: the time of the code of the only entry; it is computed if the entry requires no
    ///     check at each use.
    ///   - used: receives the use of the entry whose code was computed.
    func find(
        _ names: [String], codeAt time: CodeTime?, in place: VaultPlace, _ person: RemotePerson,
        _ shown: inout [ShownEntry], used: inout UsedEntry?
    ) -> AgentResponse {
        guard reach.contains(place) else { return .outOfReach }
        return using(place) { use in
            let entries = use.vault.entries
            var found: [EntrySummary] = []
            for name in names {
                guard vaults.isHeld(place, use.unlocking) else { return .notHeld }
                // One name may match every entry, so keep only what is needed.
                let matches = entries.matches(of: name) {
                    vaults.isHeld(place, use.unlocking)
                }
                guard matches.count == 1 else {
                    return .listing(listing(of: use.vault, uses: [:]) { _ in true })
                }
                found += matches
            }
            // The client names the entries in the reports.
            let wanted = Set(found.map(\.id) + use.vault.reports.compactMap(\.entry))
            let listing = listing(of: use.vault, uses: [:]) { wanted.contains($0.id) }
            guard let time, names.count == 1, let entry = found.first, entry.kind == .totp,
                !entry.accessControl.presence.isPerUse
            else { return .listing(listing) }
            do throws(EntryRefusal) {
                let response = try code(
                    of: entry.id, at: time, in: use, place, .none, person, [], &shown)
                guard case .code(let code) = response else { return .listing(listing) }
                if !time.isRefresh {
                    used = UsedEntry(entry.id, in: use, place, at: unixTime())
                }
                return .found(listing, code)
            } catch {
                // The client learns why when it asks for the code.
                return .listing(listing)
            }
        }
    }
}
