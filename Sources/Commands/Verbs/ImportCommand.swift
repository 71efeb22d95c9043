import Arguments
import CommandRunner
import Cryptography
import JSONText
import OneTimePassword
import POSIX
import SecretVault

/// `import`: adds entries from images and text files in one change.
enum ImportCommand {
    static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let word = try session.usage { () throws(UsageError) in
            try session.arguments.choice(.onDuplicate)
        }
        let policy = word.flatMap(DuplicatePolicy.init(rawValue:)) ?? .skip
        // Prompt for the passphrase first, not after several hundred images.
        let vault = try session.unlock()
        let printer = session.printer
        let scan = try ImportScan(session.arguments.operands) { done, all in
            printer.progress("\(done) of \(all) images")
        }
        printer.endProgress()
        let results = try results(of: scan.findings, policy, in: vault, session)
        for (finding, result) in zip(scan.findings, results) {
            try tell(finding, result, session)
        }
        try summarise(results, session)
        return results.contains { $0.isRefusal } || results.isEmpty ? .no : .done
    }

    /// Applies the findings in one change.
    private static func results(
        of findings: [Finding], _ policy: DuplicatePolicy, in vault: UnlockedVault,
        _ session: Session
    ) throws(CommandFailure) -> [ImportResult] {
        let now = SystemClock.unixTime()
        let rehearsal = ImportPlan(policy: policy, now: now, confirmed: nil)
        guard !session.arguments.has(.dryRun) else {
            return try session.inVault { () throws(VaultError) in
                try vault.rehearse { changes throws(VaultError) in
                    try rehearsal.apply(findings, to: &changes)
                }
            }
        }
        var confirmed: Set<RecordID> = []
        if policy == .replace {
            let asking = try session.inVault { () throws(VaultError) in
                try vault.rehearse { changes throws(VaultError) in
                    try rehearsal.replacedThatRequireCheck(findings, in: &changes)
                }
            }
            let wanted = Set(asking)
            confirmed = try session.askToReplace(
                vault.entries.filter { wanted.contains($0.id) }, in: vault)
        }
        let plan = ImportPlan(policy: policy, now: now, confirmed: confirmed)
        return try session.change(vault) { changes throws(VaultError) in
            try plan.apply(findings, to: &changes)
        }
    }

    private static func tell(_ finding: Finding, _ result: ImportResult, _ session: Session)
        throws(CommandFailure)
    {
        if session.wantsJSON { return try session.printer.line(json(finding, result, session)) }
        let place =
            VisibleText.of(finding.file) + (finding.line.map { ", line \($0)" } ?? "")
        let prefix = session.arguments.has(.dryRun) ? "would be " : ""
        switch result {
        case .added(let name): try session.printer.line("\(place): \(prefix)added: \(name.visible)")
        case .replaced(let name):
            try session.printer.line("\(place): \(prefix)replaced: \(name.visible)")
        case .present(let name, let twin):
            let words = Messages.sentence(forSkipping: name, as: twin)
            try session.printer.line("\(place): \(prefix)skipped: \(name.visible) (\(words))")
        case .skipped(let reason):
            try session.printer.line("\(place): skipped: \(Messages.sentence(for: reason))")
        case .refused(let refusal):
            try session.printer.line("\(place): refused: \(Messages.sentence(for: refusal))")
        }
        if case .credential(_, let warnings) = finding.content {
            for warning in warnings { session.printer.warn("\(place): \(warning)") }
        }
    }

    private static func json(_ finding: Finding, _ result: ImportResult, _ session: Session)
        -> JSONValue
    {
        var members: [(String, JSONValue)] = [("file", .text(finding.file))]
        if let line = finding.line { members.append(("line", .number(Int64(line)))) }
        switch result {
        case .added(let name):
            members += [("result", .text("added")), ("entry", .text(name.text))]
        case .replaced(let name):
            members += [("result", .text("replaced")), ("entry", .text(name.text))]
        case .present(let name, let twin):
            members += [
                ("result", .text("skipped")), ("entry", .text(name.text)),
                ("reason", .text("same-codes")), ("same_as", .text(twin.text)),
            ]
        case .skipped(let reason):
            members += [("result", .text("skipped")), ("reason", .text(reason.rawValue))]
        case .refused(let refusal):
            members += [
                ("result", .text("refused")), ("reason", .text(Messages.slug(for: refusal))),
            ]
            switch refusal {
            case .missingParts(let parts, let size):
                members += [
                    ("missing", .list(parts.map { .number(Int64($0)) })),
                    ("parts", .number(Int64(size))),
                ]
            case .unrecognisedLines(let count), .incompleteExports(let count):
                members.append(("count", .number(Int64(count))))
            default: break
            }
        }
        if case .credential(_, let warnings) = finding.content, !warnings.isEmpty {
            members.append(("warnings", .list(warnings.map { .text($0) })))
        }
        if session.arguments.has(.dryRun) { members.append(("dry_run", .flag(true))) }
        return .object(members)
    }

    private static func summarise(_ results: [ImportResult], _ session: Session)
        throws(CommandFailure)
    {
        let added = results.count { if case .added = $0 { true } else { false } }
        let replaced = results.count { if case .replaced = $0 { true } else { false } }
        let refused = results.count(where: \.isRefusal)
        let skipped = results.count - added - replaced - refused
        let numbers = "\(added) added, \(replaced) replaced, \(skipped) skipped, \(refused) refused"
        session.printer.note(
            session.arguments.has(.dryRun)
                ? "Dry run: nothing was changed (\(numbers))." : "\(numbers).")
    }
}
