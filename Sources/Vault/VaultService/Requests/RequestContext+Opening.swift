package import Devices
internal import OneTimePassword
package import SecretVault
package import WatchwordCryptography

/// The content of an entry, and how presence was checked before it was opened.
package struct CheckedContent {
    package let content: EntryContent
    package let presence: DeviceKeyTranscript.Presence
}

// Entries are opened only here, each after the check that it requires.
extension RequestContext {
    /// Throws, which ends the request, if the vault has been locked.
    package func expectHeld() throws {
        guard isHeld else { throw RequestRefusal(.notHeld) }
    }

    /// Opens an entry after the check that it requires.
    ///
    /// - Parameter reusing: whether an earlier check may be reused, if the entry allows it.
    func opened(
        _ entry: EntrySummary, takingCounter: Bool = false, reusing: Bool = false
    ) throws -> CheckedContent {
        try loadKey(of: entry)
        return try checkedAndOpened(entry, takingCounter: takingCounter, reusing: reusing)
    }

    /// Opens an entry whose device key was loaded, after the check that it requires; the check is
    /// made even if the key is missing.
    func checkedAndOpened(
        _ entry: EntrySummary, takingCounter: Bool = false, reusing: Bool = false
    ) throws -> CheckedContent {
        guard entry.accessControl.presence.isPerUse else {
            return try openedAfterUnlocking(entry, takingCounter)
        }
        switch presence {
        case .none:
            if countsUnlocking { return try openedAfterUnlocking(entry, takingCounter) }
            guard reusing, let earlier = reusableCheck(for: entry) else {
                throw VaultError.presenceNeeded
            }
            let proof = try vault.proofOfEarlierCheck(for: entry.id)
            return try vault.opened(entry.id, proof, takingCounter, earlier)
        case .opener(let opener):
            return try deriving(upTo: nil) {
                var check = OpenerCheck(opener, of: vault)
                return try opened(
                    entry, after: &check, words: "", takingCounter: takingCounter)
            }
        case .modules(let words):
            return try openedByModules(entry, words: words, takingCounter: takingCounter)
        }
    }

    /// Opens an entry that requires no check, or for which unlocking the vault was the check.
    private func openedAfterUnlocking(
        _ entry: EntrySummary, _ takingCounter: Bool
    ) throws -> CheckedContent {
        let wasChecked = countsUnlocking && vault.unlockingProvesPresence
        let proof = try vault.proofOfUnlocking(for: entry.id)
        return try vault.opened(
            entry.id, proof, takingCounter, wasChecked ? .cryptographic : .none)
    }

    /// Opens an entry after `check`.
    package func opened<Check: PresenceCheck>(
        _ entry: EntrySummary, after check: inout Check, words: String, takingCounter: Bool
    ) throws -> CheckedContent {
        let proof = try vault.proof(of: &check, for: entry.id, words: words) { isHeld }
        let presence = DeviceKeyTranscript.Presence(of: Check.Grade.self)
        recordCheck(of: entry, presence)
        return try vault.opened(entry.id, proof, takingCounter, presence)
    }

    /// Opens the credential of an entry after the check that it requires.
    ///
    /// - Parameter reusing: whether an earlier check may be reused, if the entry allows it.
    func credential(
        of entry: EntrySummary, reusing: Bool
    ) throws -> Credential {
        guard case .oneTimePassword(let credential) = try opened(entry, reusing: reusing).content
        else { throw RequestRefusal(.noCode) }
        return credential
    }
}

// Opens secrets for the commands whose purpose is to show them.
extension RequestContext {
    /// Checks again that the client can open the vault; failures count like failed attempts to
    /// unlock.
    func prove(_ opener: VaultOpener, ceiling: Int) throws -> AgentResponse {
        try deriving(upTo: ceiling) { try vault.confirm(opener, ceiling: ceiling) }
        recordProof()
        return .done
    }

    /// Opens entries for a client that shows their secrets, each after the check that it requires.
    ///
    /// - Parameter isUse: whether this counts as a use of the entry.
    func contents(of ids: [RecordID], isUse: Bool) throws -> [EntryContent] {
        guard isProved else { throw VaultError.presenceNeeded }
        // A check applies to one entry only.
        guard ids.count == 1 || presence.isNone else { throw VaultError.presenceNeeded }
        var contents: [EntryContent] = []
        for id in ids {
            try expectHeld()
            let entry = try vault.entry(id)
            // The server must never see an enrolled secret from two holders.
            guard entry.kind != .enrolled else { throw VaultError.otherKind }
            contents.append(try opened(entry).content)
        }
        countUse()
        if isUse, ids.count == 1 { noteUse(of: ids[0]) }
        return contents
    }
}

extension UnlockedVault {
    /// Proves presence for an entry; the check ends if the vault is locked meanwhile.
    package func proof<Check: PresenceCheck>(
        of check: inout Check, for id: RecordID, words: String, whileHeld isHeld: () -> Bool
    ) throws -> PresenceProof<Check.Grade> {
        let proof: PresenceProof<Check.Grade>
        switch try prove(&check, for: id, words: words) {
        case .proved(let proved): proof = proved
        case .refused(let cost): throw RequestRefusal(.refused(cost))
        case .undecided(let failure):
            guard isHeld() else { throw RequestRefusal(.notHeld) }
            throw failure
        }
        guard isHeld() else { throw RequestRefusal(.notHeld) }
        return proof
    }

    /// Opens an entry; if `takingCounter` is set, also takes its next counter.
    fileprivate func opened<Grade: PresenceGrade>(
        _ id: RecordID, _ proof: consuming PresenceProof<Grade>, _ takingCounter: Bool,
        _ presence: DeviceKeyTranscript.Presence
    ) throws(VaultError) -> CheckedContent {
        let content =
            takingCounter ? try nextHOTP(id, proof: proof) : try open(id, proof: proof)
        return CheckedContent(content: content, presence: presence)
    }
}

extension DeviceKeyTranscript.Presence {
    /// The presence that a device key states after a check of this grade.
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
