import SecretVault

// What opening or checking a vault found.
extension Messages {
    /// The damaged part, as a noun phrase.
    static func description(of part: VaultPart, in entries: [EntrySummary]) -> String {
        switch part {
        case .checksum: "the checksum"
        case .line(let number): "line \(number)"
        case .header: "the header"
        case .slot(let number): "slot \(number)"
        case .manifest: "the list of entries"
        case .changes: "the count of entries wiped without the key"
        case .record(let id), .content(let id): "the entry " + name(of: id, in: entries)
        case .recordRemoved(let id):
            "the entry \(name(of: id, in: entries)) (removed without a tombstone)"
        case .recordRestored(let id):
            "the entry \(name(of: id, in: entries)) (wiped, but its old secret is back)"
        }
    }

    static func name(of id: RecordID, in entries: [EntrySummary]) -> String {
        entries.first { $0.id == id }?.name.visible ?? id.text
    }

    /// How entries that have vanished can be restored.
    enum Restoring {
        /// From the previous generation.
        case undo
        /// Only from a copy: there is no previous generation.
        case merge
        /// The file is older than the last one used here, so the failures that wiped them may have
        /// been counted here.
        case newerFile
    }

    /// - Parameter program: the command `watchword` for this vault.
    static func sentence(
        for report: VaultReport, in entries: [EntrySummary], program: String = "watchword",
        restoring: Restoring = .undo
    ) -> String {
        switch report {
        case .olderFile(let generation, let newest):
            "the vault is older (generation \(generation)) than the last one used here (\(newest)): "
                + "later changes are missing, and counters may repeat"
        case .otherFile(let generation):
            "the vault (generation \(generation)) lacks what was last saved here: a copy that was edited "
                + "elsewhere replaced it, or somebody changed it. Changes may be missing, and counters may "
                + "repeat. Before you use it, merge the file that was here, a copy of it or its previous "
                + "generation with watchword merge"
        case .formerKey:
            "the vault has an older key than the one last used here: former passphrases and removed slots "
                + "open what is saved in it. Put the newer file back, and merge this one into it. If "
                + "there is none, change the passphrase or remove the slot again"
        case .conflictingCopy(let path): sentence(forCopyAt: path, program)
        case .rekeyedCopy(let path):
            sentence(forCopyAt: path, program)
                + "; it has another key: if that is newer, the command says how to exchange the two, and "
                + "merge the vault into it; if it is older, and the command finds nothing to merge, delete "
                + "the copy"
        case .moreConflictingCopies(let count):
            "\(count) more such \(count == 1 ? "copy is" : "copies are") beside the vault; merge or "
                + "remove those above, and they are reported"
        case .unmergedPrevious(let path):
            "\(VisibleText.of(path)), the previous generation, has changes that the vault lacks, so no "
                + "save replaces it; to merge it, run: \(program) merge "
                + "\(ShellWord.quoted(path)); to do without these changes, delete it"
        case .wipesNotListed(let error):
            "entries were wiped, but the vault could not be saved, so an older copy would bring them back: "
                + sentence(for: error)
        case .wiped(let id, let tombstone):
            "\(name(of: id, in: entries)) was wiped on \(Timestamp(unixTime: tombstone.time).text) "
                + "\(sentence(for: tombstone.reason)), and cannot be restored; delete its name with "
                + "watchword remove"
        case .vanished(let id):
            "\(name(of: id, in: entries)) has lost its secret: it was wiped without the vault’s key\(restoring.cause) "
                + "To restore it, \(restoring.advice(program)); to accept this, remove it with watchword remove"
        case .keptUnderSecondName(let inode):
            "an older file of the vault was not erased, because it has a second name (a hard link): "
                + "what was removed, wiped or replaced is still in it, and what opened it still does. "
                + "To find it, run: find ~ -xdev -inum \(inode) -exec grep -l '^watchword-vault ' {} +; then "
                + "delete it (on another file system, use its mount point instead of ~)"
        case .copyNotErased(let path):
            "\(VisibleText.of(path)), a copy of the vault, was not erased: what was removed, wiped or "
                + "replaced may still be in it, and what opened it still does; delete it when you no "
                + "longer need it"
        case .generationNotRecorded(let error):
            "the vault was saved, but its generation was not recorded in .watchword beside it: "
                + sentence(for: error)
        case .failuresNotCleared(.notCounted(let failure)):
            "the vault is open, but earlier failures are still counted: " + sentence(for: failure)
        case .failuresNotCleared(.newerAttempts):
            "the vault is open, but earlier failures are still counted: a newer Watchword counted them"
        case .failuresNotCleared(let error):
            "the vault is open, but earlier failures are still counted: " + sentence(for: error)
        case .failuresNotCounted:
            "the vault cannot be written, so it is read-only and failures are not counted"
        case .notConfirmed(let failure):
            "the vault was saved, but a power failure may undo the change: "
                + sentence(for: failure)
        case .folderOwnedByOther(let user):
            "the vault's folder belongs to user ID \(user), who can restore an older vault"
        case .folderOpenToOthers(let mode):
            "other users can write to the vault's folder (mode 0\(String(mode, radix: 8))) and restore "
                + "an older vault; run chmod go-w on it"
        }
    }

    private static func sentence(forCopyAt path: String, _ program: String) -> String {
        let visible = VisibleText.of(path)
        guard !path.contains("\u{FFFD}") else {
            return "\(visible), whose name is not UTF-8, is a copy of the vault that was edited "
                + "separately; rename it, then merge it with watchword merge"
        }
        return "\(visible) is a copy of the vault that was edited separately; to merge it, run: "
            + "\(program) merge \(ShellWord.quoted(path))"
    }

    /// Why a secret was wiped.
    static func sentence(for reason: Tombstone.Reason) -> String {
        switch reason {
        case .failures: "after too many failures"
        case .revoked: "because the server revoked it"
        case .reuseDetected: "because two holders used it"
        case .tooManyFailures: "because the server received too many wrong secrets"
        case .accountClosed: "because the account is closed"
        }
    }

    /// The result of a check, as one line.
    static func summary(of check: VaultCheck, generation: UInt64) -> String {
        let entries = "\(check.opened) \(check.opened == 1 ? "entry" : "entries") opened"
        let previous =
            switch check.previous {
            case .none: "no previous generation"
            case .whole(let generation): "the previous generation (\(generation)) is intact"
            case .unusable(.rekeyed): "the previous generation has another key"
            case .unusable(let error): "the previous generation: " + sentence(for: error)
            }
        return "generation \(generation), \(entries), \(check.damages.count) damaged; \(previous)"
    }
}

extension Messages.Restoring {
    fileprivate var cause: String {
        switch self {
        case .undo, .merge:
            ", and not because of failures here. Somebody changed the file, or another device wiped it."
        case .newerFile: ". Too many failures were counted here, or somebody changed the file."
        }
    }

    fileprivate func advice(_ program: String) -> String {
        let merge = "merge a copy of the vault that has it: \(program) merge FILE"
        return switch self {
        case .undo: "run: \(program) undo"
        case .merge: merge
        case .newerFile: "put the newer file back, or " + merge
        }
    }
}
