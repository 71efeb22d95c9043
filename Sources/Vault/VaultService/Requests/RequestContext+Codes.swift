internal import OneTimePassword
package import SecretVault

// Codes of one entry.
extension RequestContext {
    /// Computes a code.
    package func code(of id: RecordID, at time: CodeTime) throws -> IssuedCode {
        let entry = try vault.entry(id)
        switch (time, entry.kind) {
        case (.moment(let moment, let offset, let isRefresh), .totp):
            try expectCheck(forCodesUpTo: offset, after: moment, of: entry)
            let isCurrent = isCurrent(moment, upTo: offset, of: entry)
            let credential: Credential
            if isRefresh, isCurrent, let shown = shownCredential(of: entry) {
                credential = shown
            } else {
                credential = try self.credential(of: entry, reusing: isCurrent)
                // A reused check does not extend to further codes.
                let wasChecked = countsUnlocking || !presence.isNone
                if entry.accessControl.presence.isPerUse, wasChecked {
                    try keepShown(credential, of: entry)
                }
            }
            let first = try credential.step(atUnixTime: moment)
            if !isRefresh {
                countUse()
                noteUse(of: id)
            }
            let code = credential.generator().code(at: first &+ offset)
            return IssuedCode(text: code.text, counter: nil)
        case (.counter, .hotp):
            // A reused check gives no codes of a counter: they do not expire.
            guard
                case .oneTimePassword(let credential) = try opened(entry, takingCounter: true)
                    .content,
                case .counter(let counter) = credential.movingFactor
            else { throw RequestRefusal(.noCode) }
            countUse()
            noteUse(of: id)
            let code = credential.generator().code(at: counter)
            return IssuedCode(text: code.text, counter: counter)
        default: throw RequestRefusal(.noCode)
        }
    }

    /// Compares a code.
    ///
    /// - Returns: the offset of the step that it matches; `nil` if it matches none.
    func match(_ comparison: CodeComparison, of id: RecordID) throws -> Int? {
        let entry = try vault.entry(id)
        // A wider window would tell other codes to somebody who tries them all.
        let ahead = UInt64(comparison.ahead)
        if let moment = comparison.moment {
            try expectCheck(forCodesUpTo: ahead, after: moment, of: entry)
        } else if ahead > CodeComparison.widestAhead, !entry.accessControl.presence.isPerUse {
            guard isProved else { throw VaultError.presenceNeeded }
        }
        let isCurrent =
            comparison.moment.map {
                self.isCurrent($0, from: UInt64(comparison.behind), upTo: ahead, of: entry)
            } ?? false
        let credential = try credential(of: entry, reusing: isCurrent)
        let around: UInt64
        switch (credential.movingFactor, comparison.moment) {
        case (.time, let moment?):
            around = try credential.step(atUnixTime: moment)
        case (.counter(let counter), nil): around = counter
        default: throw RequestRefusal(.noCode)
        }
        countUse()
        return credential.generator().match(
            Array(comparison.code.utf8).span, around: around, behind: comparison.behind,
            ahead: comparison.ahead)
    }

    /// Requires a check for codes of the future: a check of the entry, or else a further proof of
    /// what opens the vault.
    ///
    /// Without one, a client gets the next code and those of the next 5 minutes, which a person
    /// needs whose clock is wrong; not codes for a time when the vault may be locked.
    private func expectCheck(
        forCodesUpTo offset: UInt64, after moment: Int64, of entry: EntrySummary
    ) throws {
        guard !entry.accessControl.presence.isPerUse, let step = entry.timeStep,
            let distance = distance(to: moment, of: entry)
        else { return }
        let farthest = max(1, 300 / step.period)
        guard distance <= farthest - Int64(clamping: offset) || isProved else {
            throw VaultError.presenceNeeded
        }
    }

    /// Whether the code `behind` steps before `moment` is at least the previous one by this
    /// process's clock, and that `offset` steps after it at most the next one.
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
        guard let step = entry.timeStep, let asked = step.step(at: moment) else { return nil }
        // Before the entry's first code, all codes are codes of the future.
        guard let current = step.step(at: now) else { return .max }
        return Int64(clamping: asked) - Int64(clamping: current)
    }
}
