internal import Devices
internal import OneTimePassword
internal import SecretVault
internal import VaultService
internal import WatchwordCryptography

/// The content of an entry, and how presence was checked before it was opened.
struct OpenedEntry {
    let content: EntryContent
    let presence: DeviceKeyTranscript.Presence
}

// Only here does the agent open an entry.
extension AgentServices {
    /// Opens an entry after the check that it requires; unlocking the vault is no check.
    ///
    /// - Parameter reusing: whether an earlier check may be reused, if the entry allows it.
    func opened(
        _ entry: EntrySummary, in use: HeldVaults.Use, _ place: VaultPlace,
        _ presence: AgentPresence, _ person: RemotePerson, takingCounter: Bool = false,
        reusing: Bool = false
    ) throws(EntryRefusal) -> OpenedEntry {
        let vault = use.vault
        guard entry.accessControl.presence.isPerUse else {
            return try EntryRefusal.from { () throws(VaultError) in
                let proof = try vault.proofOfUnlocking(for: entry.id)
                return try vault.opened(entry.id, proof, takingCounter, .none)
            }
        }
        switch presence {
        case .none:
            guard reusing,
                let earlier = vaults.reusableCheck(for: entry, in: place, use.unlocking)
            else { throw .vault(.presenceNeeded) }
            return try EntryRefusal.from { () throws(VaultError) in
                let proof = try vault.proofOfEarlierCheck(for: entry.id)
                return try vault.opened(entry.id, proof, takingCounter, earlier)
            }
        case .opener(let opener):
            let result = try EntryRefusal.from { () throws(VaultError) in
                try deriving(
                    while: { vaults.isHeld(place, use.unlocking) }, with: { vault.slots }
                ) {
                    Result { () throws(EntryRefusal) in
                        var check = OpenerCheck(opener, of: vault)
                        return try opened(
                            entry, in: use, place, &check, words: "", takingCounter
                        ) { .vault($0.reason) }
                    }
                }
            }
            return try result.get()
        case .modules(let words):
            guard case .account(let account) = reach else {
                var check = RelayedCheck<Advisory>(
                    relay(in: place, use.unlocking), person, user: nil,
                    for: entry.name)
                return try opened(entry, in: use, place, &check, words: words, takingCounter) {
                    .noVerdict($0)
                }
            }
            var check = RelayedCheck<Enforced>(
                relay(in: place, use.unlocking), person, user: account.user,
                for: entry.name)
            return try opened(entry, in: use, place, &check, words: words, takingCounter) {
                .noVerdict($0)
            }
        }
    }

    private func opened<Check: PresenceCheck>(
        _ entry: EntrySummary, in use: HeldVaults.Use, _ place: VaultPlace,
        _ check: inout Check, words: String, _ takingCounter: Bool,
        _ reason: (Check.Failure) -> EntryRefusal
    ) throws(EntryRefusal) -> OpenedEntry {
        let vault = use.vault
        let proof: PresenceProof<Check.Grade>
        do {
            proof = try vault.prove(&check, for: entry.id, words: words)
        } catch {
            switch error {
            case .vault(let error): throw .vault(error)
            case .refused(let cost): throw .refused(cost)
            case .check(let failure):
                // Locking the vault ends the check.
                throw vaults.isHeld(place, use.unlocking) ? reason(failure) : .notHeld
            }
        }
        // The vault may have been locked while the person was asked.
        guard vaults.isHeld(place, use.unlocking) else { throw .notHeld }
        let presence = DeviceKeyTranscript.Presence(of: Check.Grade.self)
        vaults.recordCheck(of: entry, presence, in: place, use.unlocking)
        do {
            return try vault.opened(entry.id, proof, takingCounter, presence)
        } catch {
            throw .vault(error)
        }
    }

    /// Opens the credential of an entry after the check that it requires.
    ///
    /// - Parameter reusing: whether an earlier check may be reused, if the entry allows it.
    func credential(
        of entry: EntrySummary, in use: HeldVaults.Use, _ place: VaultPlace,
        _ presence: AgentPresence, _ person: RemotePerson, reusing: Bool
    ) throws(EntryRefusal) -> Credential {
        guard
            case .oneTimePassword(let credential) = try opened(
                entry, in: use, place, presence, person, reusing: reusing
            ).content
        else { throw .noCode }
        return credential
    }
}

extension UnlockedVault {
    /// Opens an entry, or takes its next counter.
    fileprivate func opened<Grade: PresenceGrade>(
        _ id: RecordID, _ proof: consuming PresenceProof<Grade>, _ takingCounter: Bool,
        _ presence: DeviceKeyTranscript.Presence
    ) throws(VaultError) -> OpenedEntry {
        let content =
            takingCounter ? try nextHOTP(id, proof: proof) : try open(id, proof: proof)
        return OpenedEntry(content: content, presence: presence)
    }
}

extension DeviceKeyTranscript.Presence {
    /// What a device key says about a check of this grade.
    init(of grade: any PresenceGrade.Type) {
        self =
            if grade == Enforced.self {
                .enforced
            } else if grade == Cryptographic.self {
                .cryptographic
            } else {
                .advisory
            }
    }
}
