import CommandLineInterface
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// `merge`: merges another copy of the vault, which was edited separately, into the vault.
enum MergeCommand {
    static func run(_ session: Session) throws -> ExitCode {
        let other = session.arguments.operands[0]
        let path = try session.vaultPath()
        if let target = session.arguments[.into], FileStamp(of: target) == FileStamp(of: path) {
            throw UsageError.badValue(Option.into.name, expected: "a copy of the vault")
        }
        let (vault, file) = try open(other, session)
        func response(
            accepting accepted: Set<RecordID> = [], takingOldEdits takesOld: Bool = false,
            seen: [MergeChange]? = nil
        ) throws -> (outline: MergeOutline, reports: [VaultReport]) {
            let request = MergeRequest(
                file, acceptedWipes: Array(accepted), takesOldEdits: takesOld, seen: seen)
            let response = try expected(
                vault.send(.merge(vault.place, request)), other, of: vault, session)
            guard case .merged(let outline, let reports) = response else {
                throw AgentFailure.malformed
            }
            return (outline, reports)
        }
        var plan = try response().outline
        printAlarms(plan.alarms, of: vault.entries, session)
        let takesOld = try takesOldEdits(of: plan, other, session)
        let accepted = try acceptedWipes(of: plan, in: vault.entries, other, session)
        if takesOld || !accepted.isEmpty {
            plan = try response(accepting: accepted, takingOldEdits: takesOld).outline
        }
        var entries = vault.entries
        if !plan.isMerged, !session.arguments.has(.dryRun) {
            if session.arguments.has(.into),
                let wiped = plan.changes.first(where: { $0.action == .wiped })
            {
                throw CommandFailure.wipesInMerge(wiped.name.visible)
            }
            let asking = Set(plan.changes.filter(\.requiresCheck).map(\.id))
            try session.askToReplace(entries.filter { asking.contains($0.id) }, in: vault)
            if takesOld || plan.changes.contains(where: \.changesCodesOfKey) {
                try session.proveAgain(vault)
            }
            let (_, reports) = try response(
                accepting: accepted, takingOldEdits: takesOld, seen: plan.changes)
            session.printReports(reports, of: entries)
            try session.warnOfBindings(since: entries, in: vault)
            entries = try session.currentEntries(of: vault)
        }
        try report(plan, of: entries, other, session)
        return plan.unmerged.isEmpty ? .done : .no
    }

    /// Opens the vault, with the agent if it holds the vault and its key opens the other file.
    ///
    /// - Returns: the vault, and the bytes of the other file if the agent merges it.
    private static func open(
        _ other: String, _ session: Session
    ) throws -> (any OpenVault, [UInt8]) {
        // The agent writes only to the vault's folder.
        let target = session.arguments[.into]
        if target == nil, let vault = try session.agentsVault(inMerge: true) {
            try session.correctPermissions(of: other)
            let file = try CommandFailure.naming(other) {
                let file = try Vault.file(at: other)
                guard try vault.isSameVault(file) else { throw VaultError.otherVault }
                return file
            }
            let isTooLarge = file.count > MergeRequest.largestFile
            let planned =
                isTooLarge ? .otherKey : try vault.send(.merge(vault.place, MergeRequest(file)))
            guard case .otherKey = planned else { return (vault, file) }
            session.printer.note(
                "The agent cannot merge \(VisibleText.of(other)), because the file "
                    + (isTooLarge ? "is too large." : "has a different key."))
        }
        let vault = try session.unlock(inMerge: true)
        try session.correctPermissions(of: other)
        let own = OwnVault(
            vault, at: try session.vaultPath(), deviceKeys: session.deviceKeyStore)
        own.mergeFiles = MergeFiles(copy: try session.copy(at: other, of: vault), target: target)
        return (own, [])
    }

    /// Prints the alarms about the vault that the merge does not end.
    ///
    /// During a rebase, git puts one commit's file after the other in the vault's place. A merge
    /// into git's file uses no code and saves nothing, so it raises no alarm; the next unlock does.
    private static func printAlarms(
        _ reports: [VaultReport], of entries: [EntrySummary], _ session: Session
    ) {
        if !session.arguments.has(.into) {
            session.printReports(reports, of: entries)
        } else if !reports.isEmpty {
            session.printer.note(
                "The vault is not the file that was last saved here; git replaces it during a rebase. It "
                    + "is compared again when it is next unlocked.")
        }
    }

    /// Whether to take the entries of the copy of which the vault's history cannot tell whether
    /// they are newer.
    private static func takesOldEdits(
        of plan: MergeOutline, _ other: String, _ session: Session
    ) throws -> Bool {
        let word = try session.arguments.choice(.oldEdits)
        guard !plan.oldEdits.isEmpty else { return false }
        if let word { return word == "take" }
        let path = VisibleText.of(other)
        let shown = plan.oldEdits.prefix(mostNames).map(\.name.visible).joined(separator: ", ")
        let others = plan.oldEdits.count - mostNames
        let names = others > 0 ? "\(shown) and \(others) more" : shown
        session.printer.warn(
            "\(path) has versions of \(names) that may be older than the vault’s last "
                + "512 saves, so they may have been changed or removed here since")
        guard !session.arguments.has(.dryRun) else { return false }
        return try Question.oldEdits(path, of: names).isAffirmed()
    }

    /// How many names a question contains.
    private static let mostNames = 5

    /// The entries to wipe, of those that were wiped in the copy without the vault's key.
    private static func acceptedWipes(
        of plan: MergeOutline, in entries: [EntrySummary], _ other: String, _ session: Session
    ) throws -> Set<RecordID> {
        let path = VisibleText.of(other)
        var accepted: Set<RecordID> = []
        for entry in entries where plan.declinedWipes.contains(entry.id) {
            let name = entry.name.visible
            let found =
                "\(path) has lost the secret of \(name): it was wiped after failures, or somebody who "
                + "does not have the vault’s key changed the file"
            if session.arguments.has(.acceptWipes) {
                accepted.insert(entry.id)
            } else if session.canAskToChoose, !session.arguments.has(.dryRun) {
                session.printer.warn(found)
                let question = "Wipe \(name) here, too? This cannot be undone."
                if try Question.confirmation(question).isAffirmed() { accepted.insert(entry.id) }
            } else {
                session.printer.warn(
                    "\(found); it is kept here; to wipe it here, too, use "
                        + "--\(Option.acceptWipes.name)")
            }
        }
        return accepted
    }

    /// Names the other file in an error that concerns it.
    private static func expected(
        _ response: AgentResponse, _ other: String, of vault: any OpenVault, _ session: Session
    ) throws -> AgentResponse {
        switch response {
        case .failed(.copyDamaged(let part)):
            throw CommandFailure.at(VisibleText.of(other), VaultError.damaged(part))
        case .failed(.copyHasNewerKey):
            throw CommandFailure.newerKeyInMerge(
                VisibleText.of(other), advice: try adviceToExchange(other, session))
        default: return try session.expected(response, by: vault)
        }
    }

    /// How to merge the vault into the file.
    private static func adviceToExchange(_ other: String, _ session: Session) throws -> String {
        let path = try session.vaultPath()
        // The file is a temporary one of git's.
        if session.arguments.has(.into) { return Messages.mergeAdvice(at: path, reversed: true) }
        func word(_ path: String) -> String { ShellWord.quoted(path) }
        // The previous generation stays where it is: only a copy of it can be saved.
        let isKept = Vault.isReservedPath(other)
        let isExchanged = isKept ? true : try isBesideVault(other, session)
        guard isExchanged else {
            return "to merge the other way round, run: watchword --vault \(word(other)) merge "
                + "\(word(path)); then use \(VisibleText.of(other)) instead of the vault"
        }
        let former = path + ".former"
        return """
            to exchange the two, and merge the other way round, run:
              mv -n \(word(path)) \(word(former)) && \(isKept ? "cp -np" : "mv -n") \(word(other)) \(word(path))
              watchword --vault \(word(path)) merge \(word(former))
            """
    }

    private static func report(
        _ plan: MergeOutline, of entries: [EntrySummary], _ other: String, _ session: Session
    ) throws {
        let isDry = session.arguments.has(.dryRun)
        if session.wantsJSON {
            try session.printer.line(
                .object([
                    ("changes", .list(plan.changes.map(json))),
                    (
                        "declined_wipes",
                        .list(
                            entries.filter { plan.declinedWipes.contains($0.id) }
                                .map { .text($0.name.text) })
                    ),
                    (
                        "foreign_slots",
                        .list(plan.foreignSlots.map { .number(Int64($0.number)) })
                    ),
                    (
                        "left_to_device",
                        .list((plan.leftToHome + plan.leftToOwner).map(leftToDevice))
                    ),
                    ("old_edits", .list(plan.declinedOldEdits.map { .text($0.name.text) })),
                    (
                        "result",
                        .text(plan.isMerged ? "already-merged" : isDry ? "planned" : "merged")
                    ),
                    ("unmerged", .list(plan.unmerged.map { .text($0.name.text) })),
                ]))
        } else {
            for change in plan.changes {
                try session.printer.line(Messages.sentence(for: change))
            }
        }
        let path = VisibleText.of(other)
        let wiped = Set(entries.filter { $0.tombstone != nil && !$0.hasVanished }.map(\.id))
        let owned = Set(plan.leftToOwner.map(\.id))
        let left = owned.union(plan.leftToHome.map(\.id))
        for entry in plan.leftToHome + plan.leftToOwner {
            let device = VisibleText.of(entry.binding?.name ?? "")
            let reason =
                if owned.contains(entry.id) {
                    "it is bound to another device (“\(device)”) there; remove one of the two copies, or "
                        + "end its binding with watchword edit --no-this-device, and merge again"
                } else if entry.isHere {
                    "its device key cannot be used; watchword check says why"
                } else {
                    "only “\(device)” can tell which secret is newer; merge the files there or, if "
                        + "its key is lost, remove one of the two copies, and merge again"
                }
            session.printer.warn("\(entry.name.visible) of \(path) was not merged: " + reason)
        }
        for entry in plan.unmerged
        where !plan.declinedWipes.contains(entry.id) && !left.contains(entry.id) {
            guard entry.tombstone != nil || !wiped.contains(entry.id) else {
                session.printer.warn(
                    "\(entry.name.visible) of \(path) was not merged: it was wiped here, and edited there "
                        + "in the meantime; to take it from there, remove it here with watchword "
                        + "remove, and merge again")
                continue
            }
            session.printer.warn(
                "\(entry.name.visible) of \(path) was not merged, because its secret was wiped without the "
                    + "vault’s key, there or here; restore it there or here as watchword "
                    + "list says, and merge again")
        }
        for slot in plan.foreignSlots where !plan.isIncluded {
            session.printer.warn(
                "slot \(slot.number) of \(path) (\(SlotCommand.method(slot))) was not added"
                    + (plan.keys == .older ? ", and may have been replaced or removed here" : "")
                    + "; to add a passphrase or recovery key to the vault, use watchword slot add")
        }
        if plan.keys == .unknown, !plan.isMerged {
            session.printer.warn(
                "\(path) and the vault were given new keys separately: a passphrase that was changed or a "
                    + "slot that was removed only in \(path) still opens the vault; change or "
                    + "remove it here, too")
        }
        for change in plan.changes where change.action == .forked {
            session.printer.warn(
                "\(change.name.visible): both copies have used the enrolled secret, and the server treats "
                    + "that as theft; the secret will not be presented again; enrol the device "
                    + "again")
        }
        guard !isDry else { return }
        for entry in plan.declinedOldEdits {
            session.printer.warn(
                "\(entry.name.visible) of \(path) was not taken, and may be only there; to take it, run "
                    + "\(session.program) undo, and merge again with --\(Option.oldEdits.name) take"
            )
        }
        let isWhole = plan.unmerged.isEmpty && plan.declinedOldEdits.isEmpty
        if plan.isMerged {
            session.printer.note("\(path) was already merged; nothing was changed.")
        } else if plan.changes.isEmpty, isWhole {
            session.printer.note("Merged \(path); no entry differs.")
        } else if isWhole {
            session.printer.note("Merged \(path).")
        } else {
            session.printer.note("Merged \(path), but not all entries.")
        }
        // What was left out may be only there.
        guard isWhole, plan.declinedWipes.isEmpty, !session.arguments.has(.into),
            try isBesideVault(other, session)
        else { return }
        session.printer.note(
            "\(path) was not deleted; to delete it, run: rm \(ShellWord.quoted(other))")
    }

    /// Whether the file is a copy in the vault's folder, and not the vault itself.
    ///
    /// A copy in another folder may be in use there.
    private static func isBesideVault(_ other: String, _ session: Session) throws -> Bool {
        let vault = try session.vaultPath()
        guard FileStamp(of: other) != FileStamp(of: vault) else { return false }
        do {
            return try Folder.areSame(
                OutputFile.split(other).folder, OutputFile.split(vault).folder)
        } catch {
            return false
        }
    }

    private static func leftToDevice(_ entry: EntrySummary) -> JSONValue {
        .object([
            ("device", .text(entry.binding?.name ?? "")), ("entry", .text(entry.name.text)),
        ])
    }

    private static func json(_ change: MergeChange) -> JSONValue {
        var members: Record = [("entry", .text(change.name.text))]
        switch change.action {
        case .replaced(let parts):
            members.append(("parts", .list(parts.map { .text($0.rawValue) })))
        case .keptBoth(let copy):
            let name = EntryName(issuer: copy.issuer, account: copy.account)
            members.append(("copy", .text(name.text)))
        case .restoredOlder(let older): members.append(("older", .text(older.rawValue)))
        default: break
        }
        members.append(("result", .text(change.word)))
        let all: Record = [("copy", .null), ("older", .null), ("parts", .list([]))]
        return .object(members.filling(all).byName)
    }
}

extension MergeChange {
    /// The entry's name after the merge.
    var name: EntryName { EntryName(issuer: issuer, account: account) }

    fileprivate var word: String {
        switch action {
        case .added: "added"
        case .restored, .restoredOlder: "restored"
        case .removed: "removed"
        case .replaced: "replaced"
        case .kept: "kept"
        case .keptBoth: "kept-both"
        case .wiped: "wiped"
        case .advanced: "advanced"
        case .forked: "forked"
        }
    }
}

extension Session {
    /// Opens another file of `vault`; if it has another key, asks for its own passphrase.
    func copy(at path: String, of vault: UnlockedVault) throws -> VaultCopy {
        let copy = try CommandFailure.naming(path) { try vault.copy(at: path) }
        if let copy { return copy }
        let passphrase: SecretBytes
        if let file = arguments[.copyPassphraseFile] {
            passphrase = try SecretSource(file).readFirstLine(limit: Session.secretLimit)
        } else {
            passphrase = try Question.otherPassphrase(VisibleText.of(path)).ask()
            guard passphrase.count > 0 else {
                throw CommandFailure.terminal(.ended, asking: .passphrase)
            }
        }
        let (ceiling, vaults) = (try unlockCeiling(), try vaultsInUse())
        return try explainingRefusal(at: path, status: nil) { () throws(VaultError) in
            try vault.copy(at: path, passphrase: passphrase, ceiling: ceiling, among: vaults)
        }
    }
}

extension Messages {
    /// What a merge does to an entry.
    static func sentence(for change: MergeChange) -> String {
        let name = change.name.visible
        switch change.action {
        case .added: return "added: \(name)"
        case .restored: return "restored: \(name)"
        case .restoredOlder(let older): return "restored: \(name) (\(description(of: older)))"
        case .removed: return "removed: \(name)"
        case .replaced(let parts):
            return
                "replaced: \(name) (\(parts.map { description(of: $0) }.joined(separator: ", ")))"
        case .kept: return "kept: \(name) (edited in both; this vault's edit is newer)"
        case .keptBoth(let copy):
            let second = EntryName(issuer: copy.issuer, account: copy.account)
            return
                "kept both: \(name) and \(second.visible) (edited in both at about the same time)"
        case .wiped: return "wiped: \(name)"
        case .advanced: return "advanced: \(name)"
        case .forked: return "stale: \(name)"
        }
    }
}
