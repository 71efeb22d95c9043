import Arguments
import CommandRunner
import Cryptography
import OneTimePassword
import POSIX
import SecretVault

/// `import`: adds entries from images, other apps' exports and texts in one change.
enum ImportCommand {
    static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let word = try session.usage { () throws(UsageError) in
            try session.arguments.choice(.onDuplicate)
        }
        let policy = word.flatMap(DuplicatePolicy.init(rawValue:))
        let needsPath = ![Option.screen, .camera].contains { session.arguments.has($0) }
        if needsPath, session.arguments.operands.isEmpty { throw .usage(.missingOperand("PATH")) }
        // Prompt for the passphrase first, not after several hundred images.
        let vault = try session.unlock()
        let scan = try ImportScan(for: vault, session)
        let results = try results(of: scan.findings, policy, in: vault, session)
        try ImportReport(scan, results, session).print()
        return results.contains { $0.isRefusal } || results.isEmpty ? .no : .done
    }

    /// Applies the findings in one change.
    private static func results(
        of findings: [Finding], _ policy: DuplicatePolicy?, in vault: UnlockedVault,
        _ session: Session
    ) throws(CommandFailure) -> [ImportResult] {
        let now = SystemClock.unixTime()
        var choices = DuplicateChoices(policy ?? .skip)
        var rehearsal = ImportPlan(choices: choices, now: now, confirmed: nil)
        guard !session.arguments.has(.dryRun) else {
            return try session.inVault { () throws(VaultError) in
                try vault.rehearse { changes throws(VaultError) in
                    try rehearsal.apply(findings, to: &changes)
                }
            }
        }
        if policy == nil, session.canAskToChoose {
            let taken = try session.inVault { () throws(VaultError) in
                try vault.rehearse { changes throws(VaultError) in
                    try rehearsal.takenNames(findings, in: &changes)
                }
            }
            try choices.ask(about: taken, session)
            rehearsal = ImportPlan(choices: choices, now: now, confirmed: nil)
        }
        var confirmed: Set<RecordID> = []
        if choices.mayReplace {
            let asking = try session.inVault { () throws(VaultError) in
                try vault.rehearse { changes throws(VaultError) in
                    try rehearsal.replacedThatRequireCheck(findings, in: &changes)
                }
            }
            let wanted = Set(asking)
            confirmed = try session.askToReplace(
                vault.entries.filter { wanted.contains($0.id) }, in: vault)
        }
        let plan = ImportPlan(choices: choices, now: now, confirmed: confirmed)
        return try session.change(vault) { changes throws(VaultError) in
            try plan.apply(findings, to: &changes)
        }
    }
}
