import CommandLineInterface
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordSystem

/// `undo`: undoes the last change.
enum UndoCommand {
    /// The maximum number of entries that are listed.
    private static let listed = 20

    static func run(_ session: Session) throws -> ExitCode {
        let vault = try session.openVault()
        let (plan, restores, _) = try response(to: nil, in: vault, session)
        guard !plan.allSatisfy(\.isClosed) else {
            let names = plan.prefix(listed).map(\.name.visible).joined(separator: ", ")
            throw CommandFailure.at(names, VaultError.nothingToUndo(.closed))
        }
        guard !session.arguments.has(.dryRun) else {
            try report(plan, session)
            return .done
        }
        if !session.arguments.has(.yes) {
            for line in lines(of: plan) { session.printer.note(line) }
            try Question.confirm(
                restores ? "Restore these entries?" : "Undo the last change in this way?")
        }
        let asking = Set(plan.filter(\.requiresCheck).map(\.id))
        try session.askToReplace(vault.entries.filter { asking.contains($0.id) }, in: vault)
        if plan.contains(where: \.changesCodesOfKey) { try session.proveAgain(vault) }
        let former = vault.entries
        let reports = try response(to: plan, in: vault, session).reports
        session.printReports(reports, of: former)
        try session.warnOfBindings(since: former, in: vault)
        try report(plan, session)
        session.printer.note(
            restores
                ? "Restored the entries that had lost their secrets; no other change was undone."
                : "Undid the last change; watchword undo brings it back.")
        return .done
    }

    /// What undoing does, if `plan` is `nil`, or has done; and what to report about the save.
    private static func response(
        to plan: [UndoneChange]?, in vault: any OpenVault, _ session: Session
    ) throws -> (changes: [UndoneChange], onlyRestores: Bool, reports: [VaultReport]) {
        let response = try session.expected(vault.send(.undo(vault.place, plan)), by: vault)
        guard case .undone(let changes, let onlyRestores, let reports) = response else {
            throw AgentFailure.malformed
        }
        return (changes, onlyRestores, reports)
    }

    private static func report(_ plan: [UndoneChange], _ session: Session) throws {
        guard session.wantsJSON else {
            for line in lines(of: plan) { try session.printer.line(line) }
            return
        }
        try session.printer.line(
            .object([
                ("changes", .list(plan.map(json))),
                ("result", .text(session.arguments.has(.dryRun) ? "planned" : "undone")),
            ]))
    }

    private static func lines(of plan: [UndoneChange]) -> [String] {
        let lines = plan.prefix(listed).map { Messages.sentence(for: $0) }
        return plan.count > listed ? lines + ["… and \(plan.count - listed) more"] : lines
    }

    private static func json(_ change: UndoneChange) -> JSONValue {
        var members: Record = [("entry", .text(change.name.text))]
        if let former = change.formerName { members.append(("former_name", .text(former.text))) }
        var parts: [EntryPart] = []
        let result: String
        switch change.action {
        case .restored: result = "restored"
        case .restoredOlder(let older):
            result = "restored"
            members.append(("older", .text(older.rawValue)))
        case .removed: result = "removed"
        case .kept: result = "kept"
        case .closed(let device):
            result = "kept"
            members.append(("device", .text(device)))
        case .changedBack(let changed):
            result = "changed-back"
            parts = changed
        }
        members.append(("result", .text(result)))
        members.append(("parts", .list(parts.map { .text($0.rawValue) })))
        return .object(members.filling(["device", "former_name", "older"]).byName)
    }
}

extension UndoneChange {
    /// The entry's name after undoing.
    var name: EntryName { EntryName(issuer: issuer, account: account) }

    /// The entry's name before undoing, if it changes.
    var formerName: EntryName? {
        renamedFrom.map { EntryName(issuer: $0.issuer, account: $0.account) }
    }
}

extension Messages {
    /// What undoing does to an entry.
    static func sentence(for change: UndoneChange) -> String {
        switch change.action {
        case .restored: return "restored: \(change.name.visible)"
        case .restoredOlder(let older):
            return "restored: \(change.name.visible) (\(description(of: older)))"
        case .removed: return "removed: \(change.name.visible)"
        case .kept: return "kept: \(change.name.visible) (see watchword login wipe)"
        case .closed(let device):
            return "kept: \(change.name.visible) (its secret, access control and binding are not "
                + "undone here, because it is or was bound to “\(VisibleText.of(device))”)"
        case .changedBack(let parts):
            let others = parts.filter { $0 != .name }.map { description(of: $0) }
            var sentence = "changed back: "
            if let former = change.formerName {
                sentence = "renamed back: \(former.visible) to "
            }
            sentence += change.name.visible
            if !others.isEmpty { sentence += " (\(others.joined(separator: ", ")))" }
            return sentence
        }
    }

    static func description(of older: OlderSecret) -> String {
        switch older {
        case .secret: "with an older key or older parameters than those that were lost"
        case .counter: "its counter may be lower than before, so codes may repeat"
        }
    }

    static func description(of part: EntryPart) -> String {
        switch part {
        case .name: "name"
        case .secret: "key or parameters"
        case .accessControl: "access control"
        case .details: "tags, note, icon or favourite mark"
        }
    }

    static func sentence(for reason: NothingToUndo) -> String {
        "nothing to undo: "
            + {
                switch reason {
                case .noPrevious: "there is no previous generation, or it was purged"
                case .rekeyed: "the vault was rekeyed since then"
                case .notPredecessor:
                    "the previous generation is not the state before the last change; to look at it, open "
                        + "it with --vault"
                case .onlyAdvanced:
                    "since the last change, a counter or an enrolled secret has advanced, and those never "
                        + "go back"
                case .enrolment:
                    "the last change enrolled this device; see watchword login wipe"
                case .vanished:
                    "the previous generation does not have the secrets that the vault has lost either; "
                        + "merge a copy of the vault that has them with watchword merge"
                case .closed:
                    "what is or was bound to another device is not undone without that device's key"
                case .noEntry: "the last change did not change an entry"
                }
            }()
    }
}
