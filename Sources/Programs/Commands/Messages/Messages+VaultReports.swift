import CommandLineInterface
import SecretVault
import WatchwordSystem

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

    /// The way to restore entries that have vanished.
    enum Restoring {
        case undo
        /// Only a copy can restore them, because there is no previous generation.
        case merge
        /// The file is older than the last one used here, so failures that were counted here may
        /// have wiped the entries.
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
            "the vault (generation \(generation)) lacks the last changes saved here: a copy that was edited "
                + "elsewhere replaced the vault, or somebody changed the file. Changes may be missing, and counters may "
                + "repeat. Before you use it, merge the file that was here, a copy of it or its previous "
                + "generation with watchword merge"
        case .formerKey:
            "the vault has an older key than the one last used here: former passphrases and removed slots "
                + "open anything saved in it. Put the newer file back, and merge this file into it. If "
                + "there is no newer file, change the passphrase or remove the slot again"
        case .conflictingCopy(let path): sentence(forCopyAt: path, program)
        case .rekeyedCopy(let path):
            sentence(forCopyAt: path, program)
                + "; its key is different: if the key is newer, the command says how to exchange the two files and "
                + "merge the vault into the copy; if the key is older, and the command finds nothing to merge, "
                + "delete the copy"
        case .moreConflictingCopies(let count):
            "\(count) more such \(count == 1 ? "copy is" : "copies are") beside the vault; merge or "
                + "remove the copies above to see the next ones"
        case .unmergedPrevious(let path):
            "\(VisibleText.of(path)), the previous generation, has changes that the vault lacks, so no "
                + "save replaces it; to merge it, run: \(program) merge "
                + "\(ShellWord.quoted(path)); to discard these changes, delete it"
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
        case .deviceKeyUnusable(let id, let problem):
            entries.first { $0.id == id }
                .map { sentence(forClosed: $0, .deviceKey(problem)) } ?? sentence(for: problem)
        case .keptUnderSecondName(let inode):
            "an older file of the vault was not erased, because it has a second name (a hard link): "
                + "the file still has the removed, wiped or replaced data, and still opens as before. "
                + "To find it, run: find ~ -xdev -inum \(inode) -exec grep -l '^watchword-vault ' {} +; then "
                + "delete it (on another file system, use its mount point instead of ~)"
        case .copyNotErased(let path):
            "\(VisibleText.of(path)), a copy of the vault, was not erased: it may still have the "
                + "removed, wiped or replaced data, and still opens as before; delete the copy when you no "
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

    /// The reason why a secret was wiped.
    static func sentence(for reason: Tombstone.Reason) -> String {
        switch reason {
        case .failures: "after too many failures"
        case .revoked: "because the server revoked it"
        case .reuseDetected: "because its reuse was detected"
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
            case .unusable(.rekeyed): "the previous generation has a different key"
            case .unusable(let error): "the previous generation: " + sentence(for: error)
            }
        let elsewhere = check.closed > 0 ? ", \(check.closed) bound to other devices" : ""
        let count = check.unusable.count
        let unusable = count > 0 ? ", \(count) whose device key cannot be used" : ""
        return
            "generation \(generation), \(entries)\(elsewhere)\(unusable), \(check.damages.count) damaged; "
            + previous
    }
}

extension VaultCheck {
    /// The entries of this device that did not open, and the reasons.
    var unusable: [VaultReport] {
        reports.filter { if case .deviceKeyUnusable = $0 { true } else { false } }
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

// Vaults that git or Syncthing keeps.
extension Messages {
    /// The commands that let git merge the vault at `path`; `nil` outside a git work tree.
    static func gitAdvice(for path: String) -> String? {
        let (folder, name) = OutputFile.split(path)
        guard top(of: folder, with: ".git") != nil else { return nil }
        let pattern = attributePattern(of: name)
        return """
            The vault is in a git work tree. git cannot merge it as text; to have it merged by watchword, run:
              cd \(ShellWord.quoted(folder))
              echo \(ShellWord.quoted("\(pattern) -text merge=watchword")) >>.gitattributes
              echo /.watchword/ >>.gitignore
              git config merge.watchword.driver 'watchword --vault %P merge --into %A %B'
              git config merge.watchword.recursive binary
            Repeat the git config commands in each clone. git's history keeps what is wiped or purged \
            in the vault.
            """
    }

    /// The commands that resolve a conflict that git has left in the vault at `path`.
    ///
    /// - Parameter reversed: whether our version is merged into the other version.
    static func mergeAdvice(at path: String, reversed: Bool = false) -> String {
        let (folder, name) = OutputFile.split(path)
        let (ours, theirs) = (name + "_LOCAL_1", name + "_REMOTE_1")
        let (vault, copy) = reversed ? (theirs, ours) : (ours, theirs)
        func word(_ text: String) -> String { ShellWord.quoted(text) }
        return """
            to get both versions and merge them, run:
              cd \(word(folder))
              (umask 077; git show \(word(":2:./" + name)) >\(word(ours)); git show \(word(":3:./" + name)) >\(word(theirs)))
              mv \(word(vault)) \(word(name)) && watchword --vault \(word(name)) merge \(word(copy))
              rm \(word(copy)) && git add \(word(name))
            """
    }

    /// The command that excludes Watchword's own files from the folders that Syncthing
    /// synchronises; `nil` if the vault at `path` is in no such folder.
    static func syncthingAdvice(for path: String) -> String? {
        guard let top = top(of: OutputFile.split(path).folder, with: ".stfolder") else {
            return nil
        }
        return """
            The vault is in a folder that Syncthing synchronises. The files in .watchword belong to \
            this device, and copies of them would keep what is erased here; on each device, run:
              echo .watchword >>\(ShellWord.quoted(top + "/.stignore"))
            """
    }

    /// The innermost folder, from `folder` upwards, that contains a file or folder with this name,
    /// such as the top of a git work tree.
    private static func top(of folder: String, with name: String) -> String? {
        var parts = Folder.parts(of: Folder.resolvedPath(folder))
        repeat {
            // `.git` is a file in an additional work tree, and in a submodule.
            do throws(SystemCallFailure) {
                let path = "/" + (parts + [name]).joined(separator: "/")
                if [.file, .folder].contains(try FileKind(at: path, following: true)) {
                    return "/" + parts.joined(separator: "/")
                }
            } catch {}
        } while parts.popLast() != nil
        return nil
    }

    /// The pattern that matches only this file in `.gitattributes`.
    private static func attributePattern(of name: String) -> String {
        var pattern = "/"
        for scalar in name.unicodeScalars {
            // `?` matches any byte, and a space or a line feed would end the pattern.
            let isSpecial = "*?[]\\\" ".unicodeScalars.contains(scalar) || scalar.isInvisible
            let count = UTF8.width(scalar)
            pattern += isSpecial ? String(repeating: "?", count: count) : String(scalar)
        }
        return pattern
    }
}
