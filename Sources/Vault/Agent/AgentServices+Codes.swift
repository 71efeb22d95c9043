internal import OneTimePassword
internal import SecretVault
internal import VaultService
internal import WatchwordSystem

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

// Codes of one entry.
extension AgentServices {
    /// Computes a code.
    func code(
        of id: RecordID, at time: CodeTime, in use: HeldVaults.Use, _ place: VaultPlace,
        _ presence: AgentPresence, _ person: RemotePerson, _ proofs: [RepeatedProof],
        _ shown: inout [ShownEntry]
    ) throws(EntryRefusal) -> AgentResponse {
        let entry = try EntryRefusal.from { () throws(VaultError) in try use.vault.entry(id) }
        switch (time, entry.kind) {
        case (.moment(let moment, let offset, let isRefresh), .totp):
            try expectCheck(
                forCodesUpTo: offset, after: moment, of: entry, in: use, place, proofs)
            let isCurrent = isCurrent(moment, upTo: offset, of: entry)
            let credential: Credential
            if isRefresh, isCurrent,
                let known = shown.first(where: { isValid($0, of: entry, in: use, place) }),
                let held = vaults.shownCredential(known.credential, of: place)
            {
                credential = held
            } else {
                credential = try self.credential(
                    of: entry, in: use, place, presence, person, reusing: isCurrent)
                // A reused check does not extend to further codes.
                if entry.accessControl.presence.isPerUse, !presence.isNone {
                    forget(&shown) { $0.id == id && $0.place == place }
                    guard let number = vaults.keep(credential, of: place, use.unlocking) else {
                        throw .notHeld
                    }
                    if shown.count >= HeldVaults.mostShown { shown.removeFirst() }
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
            // A reused check gives no codes of a counter: they do not expire.
            let content = try opened(
                entry, in: use, place, presence, person, takingCounter: true
            ).content
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
        _ place: VaultPlace, _ presence: AgentPresence, _ person: RemotePerson,
        _ proofs: [RepeatedProof]
    ) throws(EntryRefusal) -> AgentResponse {
        let entry = try EntryRefusal.from { () throws(VaultError) in try use.vault.entry(id) }
        // A wider window would tell other codes to somebody who tries them all.
        let ahead = UInt64(comparison.ahead)
        if let moment = comparison.moment {
            try expectCheck(forCodesUpTo: ahead, after: moment, of: entry, in: use, place, proofs)
        } else if ahead > CodeComparison.widestAhead, !entry.accessControl.presence.isPerUse {
            guard isProved(proofs, in: use, place) else { throw .vault(.presenceNeeded) }
        }
        let isCurrent =
            comparison.moment.map {
                self.isCurrent($0, from: UInt64(comparison.behind), upTo: ahead, of: entry)
            } ?? false
        let credential = try credential(
            of: entry, in: use, place, presence, person, reusing: isCurrent)
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

    /// Forgets entries that a client showed.
    func forget(_ shown: inout [ShownEntry], where isOver: (ShownEntry) -> Bool) {
        for entry in shown where isOver(entry) {
            vaults.forgetCredential(entry.credential, of: entry.place)
        }
        shown.removeAll(where: isOver)
    }

    /// Requires a check for codes of the future: a check of the entry, or else a further proof of
    /// what opens the vault.
    ///
    /// Without one, a client gets the next code and those of the next 5 minutes, which a person needs
    /// whose clock is wrong; not codes for a time when the vault may be locked.
    private func expectCheck(
        forCodesUpTo offset: UInt64, after moment: Int64, of entry: EntrySummary,
        in use: HeldVaults.Use, _ place: VaultPlace, _ proofs: [RepeatedProof]
    ) throws(EntryRefusal) {
        guard !entry.accessControl.presence.isPerUse, let step = entry.timeStep,
            let distance = distance(to: moment, of: entry)
        else { return }
        let farthest = max(1, 300 / step.period)
        guard distance <= farthest - Int64(clamping: offset) || isProved(proofs, in: use, place)
        else { throw .vault(.presenceNeeded) }
    }

    /// Whether the code `behind` steps before `moment` is at least the previous one by the agent's
    /// clock, and that `offset` steps after it at most the next one.
    ///
    /// Without another check, a client gets only the codes that a person needs at that time.
    private func isCurrent(
        _ moment: Int64, from behind: UInt64 = 0, upTo offset: UInt64, of entry: EntrySummary
    ) -> Bool {
        guard let distance = distance(to: moment, of: entry) else { return false }
        return distance >= Int64(clamping: behind) - 1 && distance <= 1 - Int64(clamping: offset)
    }

    /// How many time steps `moment` is after now; `nil` if there is no code at `moment`.
    private func distance(to moment: Int64, of entry: EntrySummary) -> Int64? {
        guard let step = entry.timeStep else { return nil }
        let asked: UInt64
        do { asked = try step.step(at: moment) } catch { return nil }
        do {
            return Int64(clamping: asked) - Int64(clamping: try step.step(at: unixTime()))
        } catch {
            // Before the entry's first code, all codes are codes of the future.
            return .max
        }
    }

    private func isValid(
        _ shown: ShownEntry, of entry: EntrySummary, in use: HeldVaults.Use, _ place: VaultPlace
    ) -> Bool {
        shown.id == entry.id && shown.place == place && shown.unlocking == use.unlocking
            && shown.access == entry.accessControl && shown.edited == entry.edited
            && entry.tombstone == nil
    }
}
