internal import OneTimePassword
package import SecretVault

// Computes and compares the codes of one entry.
extension RequestContext {
    /// Computes the code of the entry at `time`, after the check that the entry requires.
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
                // A reused check does not give access to further codes.
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
            // A reused check does not give access to counter-based codes, because they do not
            // expire.
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

    /// Compares a code with those of an entry, after the check that the entry requires.
    ///
    /// - Returns: the offset of the step that the code matches; `nil` if it matches none.
    func match(_ comparison: CodeComparison, of id: RecordID) throws -> Int? {
        let entry = try vault.entry(id)
        // A wider window would reveal further codes to a client that tries all codes.
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

    /// Requires a check for codes of the future: a check of the entry, or a further proof that the
    /// client can open the vault.
    ///
    /// Without such a check, a client gets the next code and those of the next 5 minutes, which a
    /// person with a wrong clock needs, but no codes for a time when the vault may be locked.
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

    /// Whether all codes from `behind` steps before `moment` to `offset` steps after it lie between
    /// the previous and the next code by this process's clock.
    ///
    /// Without another check, a client gets only the codes that a person needs at that time.
    private func isCurrent(
        _ moment: Int64, from behind: UInt64 = 0, upTo offset: UInt64, of entry: EntrySummary
    ) -> Bool {
        guard let distance = distance(to: moment, of: entry) else { return false }
        return distance >= Int64(clamping: behind) - 1 && distance <= 1 - Int64(clamping: offset)
    }

    /// The number of time steps from now to `moment`; `nil` if there is no code at `moment`.
    private func distance(to moment: Int64, of entry: EntrySummary) -> Int64? {
        guard let step = entry.timeStep, let asked = step.step(at: moment) else { return nil }
        // Before the entry's first code, all codes are codes of the future.
        guard let current = step.step(at: now) else { return .max }
        return Int64(clamping: asked) - Int64(clamping: current)
    }
}
