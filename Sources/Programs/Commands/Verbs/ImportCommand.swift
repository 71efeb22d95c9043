import CommandLineInterface
import OneTimePassword
import SecretVault
import VaultService
import WatchwordCryptography
import WatchwordSystem

/// `import`: adds entries from images, other apps' exports and texts in one change.
enum ImportCommand {
    static func run(_ session: Session) throws -> ExitCode {
        let word = try session.arguments.choice(.onDuplicate)
        let policy = word.flatMap(DuplicatePolicy.init(rawValue:))
        let needsPath = ![Option.screen, .camera].contains { session.arguments.has($0) }
        if needsPath, session.arguments.operands.isEmpty {
            throw UsageError.missingOperand("PATH")
        }
        // Prompt for the passphrase first, not after several hundred images.
        let vault = try session.openVault()
        let scan = try ImportScan(for: vault, session)
        let results = try results(of: scan.findings, policy, in: vault, session)
        try ImportReport(scan, results, session).print()
        return results.contains { $0.isRefusal } || results.isEmpty ? .no : .done
    }

    /// Applies the findings in one change.
    private static func results(
        of findings: [Finding], _ policy: DuplicatePolicy?, in vault: any OpenVault,
        _ session: Session
    ) throws -> [ImportResult] {
        let items = findings.compactMap(\.item)
        var choices = DuplicateChoices(policy ?? .skip)
        var edit = VaultEdit.importing(ImportEdit(items, choices))
        guard !session.arguments.has(.dryRun) else {
            return results(of: findings, try session.rehearse(edit, in: vault).items, policy)
        }
        if policy == nil, session.canAskToChoose {
            let rehearsed = try session.rehearse(edit, in: vault).items
            let taken = names(in: rehearsed) { outcome in
                if case .refused(.nameTaken(let name)) = outcome { name } else { nil }
            }
            let uncompared = names(in: rehearsed) { outcome in
                if case .refused(.notCompared(let name)) = outcome { name } else { nil }
            }
            try choices.ask(about: taken, isCompared: true, session)
            try choices.ask(about: uncompared, isCompared: false, session)
            edit = .importing(ImportEdit(items, choices))
        }
        if choices.mayReplace {
            let wanted = Set(try session.rehearse(edit, in: vault).replacedPerUse)
            try session.askToReplace(vault.entries.filter { wanted.contains($0.id) }, in: vault)
        }
        let outcome = try session.perform(edit, in: vault)
        return results(of: findings, outcome.items, policy)
    }

    /// The distinct names in the outcomes that match `name`.
    private static func names(
        in outcomes: [ItemOutcome], _ name: (ItemOutcome) -> EntryName?
    ) -> [EntryName] {
        var seen: Set<EntryName> = []
        return outcomes.compactMap(name).filter { seen.insert($0).inserted }
    }

    /// The result of each finding; findings with an entry have these outcomes, in order.
    ///
    /// - Parameter policy: the user's choice for all names.
    private static func results(
        of findings: [Finding], _ outcomes: [ItemOutcome], _ policy: DuplicatePolicy?
    ) -> [ImportResult] {
        var outcomes = outcomes.makeIterator()
        return findings.map { finding in
            switch finding.content {
            case .skipped(let reason): return .skipped(reason)
            case .refused(let refusal): return .refused(refusal)
            case .entry:
                guard let outcome = outcomes.next() else {
                    preconditionFailure("each item has an outcome")
                }
                if policy == .skip, case .refused(.nameTaken(let name)) = outcome {
                    return .entry(.declined(name))
                }
                return .entry(outcome)
            }
        }
    }
}

extension EditOutcome {
    /// The outcome of each item of an import.
    fileprivate var items: [ItemOutcome] {
        guard case .imported(let items, _) = self else { isUnexpected() }
        return items
    }

    /// The per-use entries that an import replaces.
    fileprivate var replacedPerUse: [RecordID] {
        guard case .imported(_, let replaced) = self else { isUnexpected() }
        return replaced
    }
}

extension DuplicateChoices {
    /// Asks about each name; an answer in upper case also applies to the rest.
    ///
    /// - Parameter isCompared: whether the keys were compared, and differ.
    mutating func ask(about names: [EntryName], isCompared: Bool, _ session: Session) throws {
        guard !names.isEmpty else { return }
        let heading =
            switch (isCompared, names.count) {
            case (true, 1):
                "The vault has an entry with this name and a different key or different parameters:"
            case (true, _):
                "The vault has entries with these names and different keys or parameters:"
            case (false, 1):
                "The vault has an entry with this name that requires a check at each use:"
            case (false, _):
                "The vault has entries with these names that require a check at each use:"
            }
        session.printer.note(heading)
        var rest: DuplicatePolicy?
        for (index, name) in names.enumerated() {
            if let rest {
                choose(rest, for: name)
                continue
            }
            let place = names.count == 1 ? "" : " (\(index + 1) of \(names.count))"
            let answer = try DuplicateChoices.answer(for: name.visible + place)
            choose(answer.policy, for: name)
            if answer.appliesToRest { rest = answer.policy }
        }
    }

    private static func answer(
        for name: String
    ) throws -> (policy: DuplicatePolicy, appliesToRest: Bool) {
        while true {
            let answer = try Question.duplicate(name).ask()
            // The answer is not secret.
            let letters = answer.withBytes { bytes in bytes.indices.map { bytes[$0] } }
            switch String(decoding: letters, as: UTF8.self) {
            case "r": return (.replace, false)
            case "R": return (.replace, true)
            case "k": return (.keep, false)
            case "K": return (.keep, true)
            case "s", "": return (.skip, false)
            case "S": return (.skip, true)
            default: break
            }
        }
    }
}
