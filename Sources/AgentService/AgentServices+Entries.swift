internal import OneTimePassword
internal import POSIX
internal import Presence
internal import PresenceDevices
internal import SecretVault
internal import VaultAgent

/// Why an entry was not used.
enum EntryRefusal: Error {
    case vault(VaultError)
    /// The check failed, at this cost.
    case refused(RefusalCost)
    /// The system's modules gave no verdict.
    case noVerdict(PAMCheckFailure)
    /// The entry has no such code.
    case noCode
    /// The vault has been locked meanwhile.
    case notHeld

    var response: AgentResponse {
        switch self {
        case .vault(let error): .failed(error)
        case .refused(let cost): .refused(cost)
        case .noVerdict(let failure): .noVerdict(failure)
        case .noCode: .noCode
        case .notHeld: .notHeld
        }
    }
}

/// An entry whose codes a client shows, after one presence check.
struct ShownEntry {
    let place: VaultPlace
    let id: RecordID
    /// The unlocking of the vault in which presence was checked.
    let unlocking: UInt64
    /// The access control and the last edit at that time; after a change, presence is checked again.
    let access: AccessControl
    let edited: EntryEdit
    /// The number of the credential, which is held with the vault.
    let credential: UInt64
}

/// An entry that the next edit on a connection may change, after a presence check.
struct ConfirmedEntry {
    let place: VaultPlace
    /// The unlocking of the vault in which presence was checked.
    let unlocking: UInt64
    /// The entry at that time.
    let entry: EntrySummary
}

// Uses of one entry. Only here does the agent open one.
extension AgentServices {
    /// Computes a code.
    func code(
        of id: RecordID, at time: CodeTime, in use: HeldVaults.Use, _ place: VaultPlace,
        _ presence: AgentPresence, _ person: RemotePerson, _ shown: inout [ShownEntry]
    ) throws(EntryRefusal) -> AgentResponse {
        let entry = try EntryRefusal.from { () throws(VaultError) in try use.vault.entry(id) }
        switch (time, entry.kind) {
        case (.moment(let moment, let offset, let isRefresh), .totp):
            let credential: Credential
            if isRefresh,
                let known = shown.first(where: { isValid($0, of: entry, in: use, place) }),
                let held = vaults.shownCredential(known.credential, of: place),
                AgentServices.isCurrent(moment, offset, for: held)
            {
                credential = held
            } else {
                credential = try self.credential(of: entry, in: use, place, presence, person)
                if entry.accessControl.presence.isPerUse {
                    forget(&shown) { $0.id == id && $0.place == place }
                    guard let number = vaults.keep(credential, of: place, use.unlocking) else {
                        throw .notHeld
                    }
                    shown.append(
                        ShownEntry(
                            place: place, id: id, unlocking: use.unlocking,
                            access: entry.accessControl, edited: entry.edited,
                            credential: number))
                }
            }
            guard case .time(let step) = credential.movingFactor else { throw .noCode }
            let first: UInt64
            do { first = try step.step(at: moment) } catch { throw .noCode }
            if !isRefresh { vaults.countUse(of: place, use.unlocking) }
            let code = credential.generator().code(at: first &+ offset)
            return .code(IssuedCode(text: code.text, counter: nil))
        case (.counter, .hotp):
            let content = try opened(entry, in: use, place, presence, person, takingCounter: true)
            guard case .oneTimePassword(let credential) = content,
                case .counter(let counter) = credential.movingFactor
            else { throw .noCode }
            vaults.countUse(of: place, use.unlocking)
            let code = credential.generator().code(at: counter)
            return .code(IssuedCode(text: code.text, counter: counter))
        default: throw .noCode
        }
    }

    /// Compares a code.
    func match(
        _ comparison: CodeComparison, of id: RecordID, in use: HeldVaults.Use,
        _ place: VaultPlace, _ presence: AgentPresence, _ person: RemotePerson
    ) throws(EntryRefusal) -> AgentResponse {
        let entry = try EntryRefusal.from { () throws(VaultError) in try use.vault.entry(id) }
        let credential = try credential(of: entry, in: use, place, presence, person)
        let around: UInt64
        switch (credential.movingFactor, comparison.moment) {
        case (.time, let moment?):
            do { around = try credential.step(atUnixTime: moment) } catch { throw .noCode }
        case (.counter(let counter), nil): around = counter
        default: throw .noCode
        }
        vaults.countUse(of: place, use.unlocking)
        return .match(
            credential.generator().match(
                Array(comparison.code.utf8).span, around: around, behind: comparison.behind,
                ahead: comparison.ahead))
    }

    /// Checks presence for an entry that the next edit on the connection changes.
    func confirm(
        _ id: RecordID, in use: HeldVaults.Use, _ place: VaultPlace, _ presence: AgentPresence,
        _ person: RemotePerson, _ confirmed: inout [ConfirmedEntry]
    ) throws(EntryRefusal) -> AgentResponse {
        let entry = try EntryRefusal.from { () throws(VaultError) in try use.vault.entry(id) }
        _ = try opened(entry, in: use, place, presence, person, takingCounter: false)
        vaults.countUse(of: place, use.unlocking)
        confirmed.removeAll { $0.place == place && $0.entry.id == id }
        confirmed.append(
            ConfirmedEntry(place: place, unlocking: use.unlocking, entry: entry))
        return .done
    }

    /// The outcome of an edit that is not saved, as if every presence check had succeeded.
    func rehearse(_ edit: VaultEdit, in use: HeldVaults.Use) throws(EntryRefusal) -> AgentResponse {
        let outcome = try EntryRefusal.from { () throws(VaultError) in
            try use.vault.rehearse { changes throws(VaultError) in
                try edit.apply(to: &changes, confirmedBy: .assumed, now: SystemClock.unixTime())
            }
        }
        return .edited(outcome, [])
    }

    /// Changes the vault in one save, after the check that the edit requires.
    func edit(
        _ edit: VaultEdit, in use: HeldVaults.Use, _ place: VaultPlace,
        _ presence: AgentPresence, _ person: RemotePerson, _ earlier: inout [ConfirmedEntry]
    ) throws(EntryRefusal) -> AgentResponse {
        let vault = use.vault
        // Each check counts for one edit only.
        var confirmed = earlier.filter { $0.place == place && $0.unlocking == use.unlocking }
            .map(\.entry)
        earlier = []
        if let id = edit.confirmedEntry {
            let entry = try EntryRefusal.from { () throws(VaultError) in try vault.entry(id) }
            if entry.accessControl.presence.isPerUse {
                _ = try opened(entry, in: use, place, presence, person, takingCounter: false)
                confirmed.append(entry)
            }
        }
        let confirmations = Confirmations(confirmed)
        let saved = try EntryRefusal.from { () throws(VaultError) in
            try vault.update { changes throws(VaultError) -> EditOutcome? in
                // The save may have waited for another writer.
                guard vaults.isHeld(place, use.unlocking) else { return nil }
                return try edit.apply(
                    to: &changes, confirmedBy: confirmations, now: SystemClock.unixTime())
            }
        }
        guard let outcome = saved else { throw .notHeld }
        vaults.countUse(of: place, use.unlocking)
        let reports = vault.reports.filter { report in
            if case .generationNotRecorded = report { true } else { false }
        }
        return .edited(outcome, reports)
    }

    /// Forgets entries that a client showed.
    func forget(_ shown: inout [ShownEntry], where isOver: (ShownEntry) -> Bool) {
        for entry in shown where isOver(entry) {
            vaults.forgetCredential(entry.credential, of: entry.place)
        }
        shown.removeAll(where: isOver)
    }

    /// Whether a program that shows codes needs this one now: the current code or a neighbour of it.
    private static func isCurrent(
        _ moment: Int64, _ offset: UInt64, for credential: Credential
    ) -> Bool {
        guard case .time(let step) = credential.movingFactor, offset <= 1 else { return false }
        let now = SystemClock.unixTime()
        return (moment &- now).magnitude <= UInt64(step.period)
    }

    private func isValid(
        _ shown: ShownEntry, of entry: EntrySummary, in use: HeldVaults.Use, _ place: VaultPlace
    ) -> Bool {
        shown.id == entry.id && shown.place == place && shown.unlocking == use.unlocking
            && shown.access == entry.accessControl && shown.edited == entry.edited
            && entry.tombstone == nil
    }

    private func credential(
        of entry: EntrySummary, in use: HeldVaults.Use, _ place: VaultPlace,
        _ presence: AgentPresence, _ person: RemotePerson
    ) throws(EntryRefusal) -> Credential {
        guard
            case .oneTimePassword(let credential) = try opened(
                entry, in: use, place, presence, person, takingCounter: false)
        else { throw .noCode }
        return credential
    }

    /// Opens an entry after the check that it requires; unlocking the vault is no check.
    private func opened(
        _ entry: EntrySummary, in use: HeldVaults.Use, _ place: VaultPlace,
        _ presence: AgentPresence, _ person: RemotePerson, takingCounter: Bool
    ) throws(EntryRefusal) -> EntryContent {
        let vault = use.vault
        guard entry.accessControl.presence.isPerUse else {
            return try EntryRefusal.from { () throws(VaultError) in
                let proof = try vault.proofOfUnlocking(for: entry.id)
                return takingCounter
                    ? try vault.nextHOTP(entry.id, proof: proof)
                    : try vault.open(entry.id, proof: proof)
            }
        }
        switch presence {
        case .none: throw .vault(.presenceNeeded)
        case .opener(let opener):
            var check = OpenerCheck(opener, of: vault)
            return try opened(entry, in: use, place, &check, words: "", takingCounter) {
                .vault($0.reason)
            }
        case .modules(let words):
            var check = RelayedCheck(helpers, person)
            return try opened(entry, in: use, place, &check, words: words, takingCounter) {
                .noVerdict($0)
            }
        }
    }

    private func opened<Check: PresenceCheck>(
        _ entry: EntrySummary, in use: HeldVaults.Use, _ place: VaultPlace,
        _ check: inout Check, words: String, _ takingCounter: Bool,
        _ reason: (Check.Failure) -> EntryRefusal
    ) throws(EntryRefusal) -> EntryContent {
        let vault = use.vault
        let proof: PresenceProof<Check.Grade>
        do {
            proof = try vault.prove(&check, for: entry.id, words: words)
        } catch {
            switch error {
            case .vault(let error): throw .vault(error)
            case .refused(let cost): throw .refused(cost)
            case .check(let failure): throw reason(failure)
            }
        }
        // The vault may have been locked while the person was asked.
        guard vaults.isHeld(place, use.unlocking) else { throw .notHeld }
        do {
            return takingCounter
                ? try vault.nextHOTP(entry.id, proof: proof)
                : try vault.open(entry.id, proof: proof)
        } catch {
            throw .vault(error)
        }
    }
}

extension EntryRefusal {
    fileprivate static func from<Result>(
        _ body: () throws(VaultError) -> Result
    ) throws(EntryRefusal) -> Result {
        do { return try body() } catch { throw .vault(error) }
    }
}
