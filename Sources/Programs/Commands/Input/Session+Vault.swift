import CommandLineInterface
import OneTimePassword
import SecretVault
import WatchwordCryptography
import WatchwordSystem

extension Session {
    /// The vault's path: `--vault`, `$WATCHWORD_VAULT`, or the default in the user's data folder.
    func vaultPath() throws -> String {
        if let path = arguments[.vault] { return path }
        if let path = Environment.value("WATCHWORD_VAULT") {
            // Invalid UTF-8 was replaced, so the argument is a different path.
            guard !path.contains("\u{FFFD}") else { throw UsageError.notUTF8 }
            return path
        }
        guard let path = standardVaultPath() else { throw CommandFailure.noHome }
        return path
    }

    /// The command `watchword` for this vault, as a message prints it.
    var program: String {
        arguments[.vault].map { "watchword --vault " + ShellWord.quoted($0) } ?? "watchword"
    }

    /// The default path; `nil` if the user has no home folder.
    func standardVaultPath() -> String? {
        // The XDG Base Directory Specification requires us to ignore a relative path.
        if let data = Environment.value("XDG_DATA_HOME"), data.hasPrefix("/") {
            return data + "/watchword/vault"
        }
        return Environment.value("HOME").map { $0 + "/.local/share/watchword/vault" }
    }

    /// The paths of this user's vaults, whose failure counts must not be bypassed by guessing
    /// through a copy.
    func vaultsInUse() throws -> [String] {
        let path = try vaultPath()
        return [path]
            + [standardVaultPath()].compactMap { $0 }
            .filter { !$0.utf8.elementsEqual(path.utf8) }
    }

    /// Unlocks the vault and prints its reports.
    ///
    /// - Parameter inMerge: whether a copy will be merged, which may contain the vault's missing
    ///   changes: copies are not reported, and the caller must print the alarms.
    func unlock(inMerge: Bool = false) throws -> UnlockedVault {
        let path = try vaultPath()
        guard try systemVault() == nil else { throw CommandFailure.keptBySystem }
        let unlocked = try requiringVault(at: path) {
            try correctPermissions(of: path)
            return try self.unlocked(path)
        }
        printReports(
            unlocked.reports, of: unlocked.entries, inMerge: inMerge,
            noticed: unlocked.noticedWipes)
        return unlocked
    }

    /// Prints the reports about the vault with these entries.
    ///
    /// The wipe of an entry is reported by the first command that opens the vault afterwards, and
    /// by commands that report on the whole vault.
    ///
    /// - Parameters:
    ///   - inMerge: whether to leave out alarms, and copies that can be merged.
    ///   - noticed: the entries whose wipe was detected just now.
    func printReports(
        _ reports: [VaultReport], of entries: [EntrySummary], inMerge: Bool = false,
        noticed: Set<RecordID> = []
    ) {
        let reportsWipes = ["list", "check", "unlock"].contains(arguments.entry.name)
        let restoring = restoring(reports)
        for report in reports {
            let sentence = Messages.sentence(
                for: report, in: entries, program: program, restoring: restoring)
            switch report {
            case .conflictingCopy where inMerge, .rekeyedCopy where inMerge,
                .moreConflictingCopies where inMerge, .unmergedPrevious where inMerge:
                continue
            case .wiped(let id, _) where !reportsWipes && !noticed.contains(id): continue
            case _ where report.isAlarm && inMerge: continue
            // Repeated codes are dangerous, so this warning is printed even with --quiet.
            case _ where report.isAlarm: printer.alarm(sentence)
            default: printer.warn(sentence)
            }
        }
    }

    /// The way to restore vanished entries in the vault with these reports.
    func restoring(_ reports: [VaultReport]) -> Messages.Restoring {
        let isOlder = reports.contains { if case .olderFile = $0 { true } else { false } }
        if isOlder { return .newerFile }
        // Only the system agent knows whether its vault has a previous generation.
        do { return Vault.holdsPrevious(at: try vaultPath()) ? .undo : .merge } catch _ {
            return .merge
        }
    }

    /// If other users can access the vault, asks whether to correct the permissions.
    ///
    /// git sets such a mode at each pull. If no other user can enter the folder, the mode reveals
    /// nothing, and is corrected silently.
    func correctPermissions(of path: String) throws {
        let exposure = try CommandFailure.naming(path) { try Vault.exposure(at: path) }
        guard let exposure else { return }
        guard exposure.isInReach else {
            return try CommandFailure.naming(path) { try Vault.closeToOthers(at: path) }
        }
        do {
            try Question.confirm(Messages.question(of: exposure, at: path))
        } catch CommandFailure.terminal(.none, _) {
            throw CommandFailure.exposed(path, exposure)
        }
        try CommandFailure.naming(path) { try Vault.closeToOthers(at: path) }
        printer.note("Corrected the permissions. Other users may have read the files before.")
    }

    private func unlocked(_ path: String) throws -> UnlockedVault {
        try unlockedWithOpener(path).vault
    }

    /// Unlocks the vault at `path`; returns the vault and the secret that unlocked it.
    func unlockedWithOpener(_ path: String) throws -> (vault: UnlockedVault, opener: VaultOpener) {
        let slots = try CommandFailure.naming(path) { try Vault.slots(at: path) }
        return try withOpener(of: path, among: slots, lockOut: { try lockOut(of: path) }) {
            opener in
            (try unlocked(path, with: opener), opener)
        }
    }

    /// Calls `use` with a secret that opens the vault at `path`: the secret of a device or, up to
    /// three times, a secret that the person enters.
    ///
    /// - Parameters:
    ///   - mayUseWindow: whether to prompt in a window if there is no terminal.
    ///   - lockOut: the seconds for which the vault is locked now.
    func withOpener<Result>(
        of path: String, among slots: [SlotSummary], mayUseWindow: Bool = false,
        lockOut: () throws -> Int64, _ use: (VaultOpener) throws -> Result
    ) throws -> Result {
        if let opener = try deviceOpener(path, slots: slots) { return try use(opener) }
        if mayUseWindow, asksInWindow(slots: slots) {
            return try attemptingInWindow(path, lockOut: lockOut, unlock: use)
        }
        return try attempting(path, lockOut: lockOut) { try use(opener(slots: slots)) }
    }

    /// Calls `unlock`, which asks for the passphrase, up to three times.
    ///
    /// - Parameter lockOut: the seconds for which the vault is locked now.
    func attempting<Result>(
        _ path: String, lockOut: () throws -> Int64,
        unlock: () throws -> Result
    ) throws -> Result {
        guard promptsForOpener, !isOpenedByRecoveryKey else { return try unlock() }
        var attempts = PromptAttempts()
        while true {
            try requireNoLockOut(of: path, lockOut)
            do {
                return try unlock()
            } catch CommandFailure.presence(let refusal) {
                guard attempts.allowAnother(after: refusal) else {
                    if let seconds = refusal.lockOut { discardAnswer(duringLockOutOf: seconds) }
                    throw CommandFailure.presence(refusal)
                }
                printer.complain(Messages.sentence(for: refusal))
            }
        }
    }

    /// Unlocks the vault at `path`; an error states the cost of the failure.
    func unlocked(_ path: String, with opener: VaultOpener) throws -> UnlockedVault {
        let began = SystemClock.unixTime()
        let ceiling = try unlockCeiling()
        let vault = try explainingRefusal(at: path, status: try status(path, since: began)) {
            () throws(VaultError) in
            try Vault.unlock(
                at: path, with: opener, ceiling: ceiling,
                mode: arguments.has(.readOnly) ? .readOnly : .listingWipes)
        }
        vault.openDevices(deviceKeyStore)
        return vault
    }

    /// Runs `body`; if it does not open the vault at `path`, the error states the cost.
    func explainingRefusal<Result>(
        at path: String, status: @autoclosure () throws -> VaultStatus?,
        _ body: () throws(VaultError) -> Result
    ) throws -> Result {
        do { return try body() } catch { throw refusal(error, at: path, status: status) }
    }

    /// The error for a vault at `path` that was not unlocked, with the cost of the failure.
    ///
    /// - Parameter status: the cost of a wrong passphrase; `nil` if it is unknown.
    func refusal(
        _ error: VaultError, at path: String, status: () throws -> VaultStatus?
    ) -> CommandFailure {
        switch error {
        case .wrongPassphrase:
            let cost: VaultStatus?
            do { cost = try status() } catch { cost = nil }
            return .presence(.wrongPassphrase(VisibleText.of(path), cost))
        case .wrongRecoveryKey: return .presence(.wrongRecoveryKey(VisibleText.of(path)))
        case .lockedOut(let seconds):
            return .presence(.vaultLockedOut(VisibleText.of(path), seconds: seconds))
        default: return .at(VisibleText.of(path), error)
        }
    }

    /// The cost of a failure; `nil` if failures are not counted.
    func status(_ path: String, since began: Int64) throws -> VaultStatus? {
        // With --read-only, failures are not counted.
        guard !arguments.has(.readOnly) else { return nil }
        return try Vault.status(at: path, since: began)
    }

    /// `--max-unlock-cost`, or the default limit.
    func unlockCeiling() throws -> Int {
        let most = Vault.maximumCeiling
        return try arguments.integer(.maxUnlockCost, in: 10...most) ?? Vault.defaultCeiling
    }

    /// Warns if later commands will need `--max-unlock-cost`.
    func warnAboutCost(_ logN: Int) {
        guard logN > Vault.defaultCeiling else { return }
        printer.alarm(
            "unlocking the vault now costs more than the default limit; add "
                + "--\(Option.maxUnlockCost.name) \(logN) to every command")
    }

    /// `--scrypt-log-n`, or the default cost.
    func cost() throws -> ScryptCost { try statedCost() ?? .standard }

    /// The cost that the options state.
    func statedCost() throws -> ScryptCost? {
        let logN = try arguments.integer(.scryptLogN, in: 10...24)
        guard let logN, let cost = ScryptCost(logN: logN) else { return nil }
        if logN < ScryptCost.standard.logN {
            let times = 1 << (ScryptCost.standard.logN - logN)
            printer.warn(
                "--\(Option.scryptLogN.name) \(logN) makes guessing the passphrase \(times) times cheaper "
                    + "than the default (\(ScryptCost.standard.logN))")
        }
        return cost
    }
}
