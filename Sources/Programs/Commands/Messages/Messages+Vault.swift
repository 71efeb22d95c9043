import Devices
import OneTimePassword
import SecretVault
import WatchwordCryptography
import WatchwordSystem

extension Messages {
    /// The next steps after a vault was created.
    static func nextSteps(_ program: String) -> String {
        "To add an entry, run: \(program) add NAME. To move from another app, run: \(program) import FILE"
    }

    static func sentence(for error: VaultError) -> String {
        switch error {
        case .notFound: "no vault found; create one with watchword init"
        case .alreadyExists: "already exists; choose a different path for the vault"
        case .previousLeft:
            "the vault is missing, but its previous generation still exists"
        case .reservedPath:
            "the name .watchword is reserved for Watchword's own files; choose a different path"
        case .previousGeneration:
            "a previous generation is read-only; to change it, copy it to a different folder"
        case .folder: "is a folder, not a vault"
        case .symbolicLink: "is a symbolic link; specify the vault itself"
        case .notAFile: "not a regular file"
        case .otherOwner(let user): "the vault belongs to user ID \(user), not to you"
        case .openToOthers(let mode):
            "other users can access the file (mode 0\(String(mode, radix: 8))); run chmod 600 on it"
        case .tooLarge:
            "larger than 64 MiB, the maximum for a vault, so Watchword did not save it; choose a different file"
        case .overLimit(let limit): limitSentence(limit)
        case .notAVault: "not a Watchword vault"
        case .newerVersion(let version):
            "the vault was created by a newer Watchword (format \(version)); upgrade Watchword"
        case .newerAttempts(let version):
            "failures were counted by a newer Watchword (format \(version)); upgrade Watchword, or "
                + "unlock with --recovery-key"
        case .conflictMarkers: "git could not merge the vault, and wrote conflict markers into it"
        case .truncated: "the vault is truncated"
        case .damaged(.recordRemoved):
            "the vault was tampered with: an entry was removed without a tombstone"
        case .damaged(.recordRestored(let id)):
            "the vault was tampered with: entry \(id.text) was wiped, but its old secret is back; "
                + "the entry cannot be opened"
        // The checksum is right, but the vault key does not authenticate the content, so somebody
        // changed the file on purpose.
        case .damaged(.header), .damaged(.manifest), .damaged(.record), .damaged(.slot),
            .damaged(.changes):
            "the vault was tampered with: entries may be missing or have weaker access control"
        case .copyDamaged(let part): sentence(for: .damaged(part))
        case .damaged(let part):
            "the vault is damaged (\(description(of: part, in: [])))"
        case .costOverCeiling(let logN, let ceiling):
            "unlocking would cost as much as scrypt with N = 2^\(logN), and the limit is 2^\(ceiling); "
                + (logN <= Vault.maximumCeiling
                    ? "if nobody else created or changed the vault, use --max-unlock-cost \(logN)"
                    : "no option allows that much, so the vault was tampered with")
        case .notEnoughMemory(let needed, let limit):
            "unlocking needs \(needed >> 20) MiB of memory, and only \(limit >> 20) MiB is available; "
                + "check the machine's memory, ulimit -v and ulimit -d"
        case .wrongPassphrase: "wrong passphrase"
        case .wrongRecoveryKey: "wrong recovery key"
        case .wrongDevice:
            "the device's secret does not open its slot, which may have been tampered with; unlock "
                + "with the passphrase or recovery key"
        case .lockedOut(let seconds): "too many failures; try again in \(duration(seconds))"
        case .notCounted(let failure):
            "cannot record the attempt in .watchword beside the vault (\(sentence(for: failure))), so "
                + "nothing was tried; "
                + (failure.isWriteForbidden
                    ? "make the folder writable, or use --read-only or --recovery-key"
                    : "free some disk space, or use --recovery-key")
        case .outcomeNotRecorded(let failure):
            "cannot record or read the outcome of the attempt in .watchword beside the vault "
                + "(\(sentence(for: failure))), so it is not reported; the attempt counts towards a "
                + "wait; "
                + (failure.isWriteForbidden
                    ? "make the folder writable, or use --recovery-key"
                    : "free some disk space, or use --recovery-key")
        case .writable: "the vault is writable; omit --read-only"
        case .wipingDue:
            "an entry has reached its failure limit and must be wiped; open the vault where it is writable"
        case .vanishedEntries:
            "the previous generation may have the only copies of lost data; first follow the warnings "
                + "of watchword list"
        case .copyHasNewerKey: "the other file has a newer key"
        case .openedReadOnly: "the vault is open read-only; nothing was changed"
        case .proofRefused(.expired): "the check expired; run the command again"
        case .proofRefused(.otherPurpose):
            "the check was made for a different purpose; run the command again"
        case .presenceNeeded: "the entry requires a check at each use; run the command again"
        case .differentCheckRequired: "the entry requires a different check; see watchword show"
        case .busy: "another program is changing the vault; try again"
        case .changedMeanwhile:
            "another program, such as a file-sync client, replaced the vault while it was being saved; its "
                + "file was kept and nothing was saved; try again"
        case .rekeyed: "another program gave the vault a new key; try again"
        case .replaced: "a different vault replaced the vault; try again"
        case .recoveryKeyLength(let count, let expected):
            "a recovery key has \(expected) letters and digits, not \(count)"
        case .recoveryKeyCharacter:
            "a recovery key contains only the letters A–Z and the digits 2–7"
        case .recoveryKeyMistyped: "the recovery key contains a typing error"
        case .noSuchEntry: "another program removed the entry"
        case .nothingToUndo(let reason): sentence(for: reason)
        case .otherVault:
            "a copy of a different vault; export its entries, and import them into this one"
        case .wiped: "the entry was wiped; only its name is left"
        case .boundElsewhere: "the entry opens only on a different device; see watchword show"
        case .deviceKey(let problem): sentence(for: problem)
        case .vanished:
            "the entry has lost its secret; watchword list says how to restore it"
        case .spaceAroundName:
            "the issuer or the account begins or ends with a space or a character that looks like one; "
                + "remove it"
        case .invalidTag:
            "a tag is empty, is given twice, or begins or ends with a space; correct it"
        case .otherKind: "the entry has a different type"
        case .counterExhausted:
            "the counter has reached its maximum; ask the issuer for a new key"
        case .noSuchSlot: "no such slot; see watchword slot list"
        case .lastSlot:
            "this slot is the last one that opens the vault on any computer; add a recovery key or "
                + "passphrase first"
        case .inTheWay(let name):
            "\(VisibleText.of(name)) in the vault's folder is not a Watchword file; move it away"
        case .previousNotErased(let failure):
            "the change was saved, but the previous generation is still in .watchword beside the "
                + "vault: " + sentence(for: failure)
        case .notConfirmed(let failure):
            "the change was saved, but a power failure may undo it, so nothing was purged: "
                + sentence(for: failure)
        case .system(let failure): sentence(for: failure)
        case .cryptography(let failure): sentence(for: failure)
        }
    }

    /// The files and folders that other users can access, as a noun phrase.
    private static func description(of exposure: VaultExposure) -> String {
        let files = exposure.includesOwnFiles ? "Watchword's files in .watchword" : ""
        guard let mode = exposure.mode else { return files }
        let vault = "the vault (mode 0\(String(mode, radix: 8)))"
        return files.isEmpty ? vault : vault + " and " + files
    }

    /// The question before permissions are corrected.
    static func question(of exposure: VaultExposure, at path: String) -> String {
        let (folder, _) = OutputFile.split(path)
        return "\(VisibleText.of(path)): other users can access \(description(of: exposure))"
            + (exposure.includesFolder ? ", and write to the folder \(VisibleText.of(folder))" : "")
            + ". Correct the permissions?"
    }

    /// The message about permissions that were not corrected, with the commands that correct them.
    static func sentence(for exposure: VaultExposure, at path: String) -> String {
        let (folder, _) = OutputFile.split(path)
        var commands: [String] = []
        if exposure.includesFolder { commands.append("chmod go-w \(ShellWord.quoted(folder))") }
        if exposure.mode != nil { commands.append("chmod 600 \(ShellWord.quoted(path))") }
        if exposure.includesOwnFiles {
            let own = (folder == "." ? "" : folder + "/") + ".watchword"
            commands.append("chmod -R go= \(ShellWord.quoted(own))")
        }
        return "other users can access \(description(of: exposure)); run: "
            + commands.joined(separator: " && ")
    }

    /// The path of an earlier generation of a vault that cannot be opened or is missing.
    static func recoveryAdvice(from error: VaultError, at path: String) -> String {
        // A kept generation does not itself have a previous generation.
        guard !path.contains(".watchword/"), Vault.holdsPrevious(at: path) else { return "" }
        let (folder, name) = OutputFile.split(path)
        let previous = (folder == "." ? "" : folder + "/") + ".watchword/by-name/\(name)/previous"
        switch error {
        case .truncated, .damaged, .notAVault:
            return "; to open the previous generation, try --vault \(ShellWord.quoted(previous))"
        case .conflictMarkers: return "; " + mergeAdvice(at: path)
        case .previousLeft:
            let (kept, vault) = (ShellWord.quoted(previous), ShellWord.quoted(path))
            let other = ShellWord.quoted(path + ".old")
            return "; to restore it, run: cp -p \(kept) \(vault); to start anew, first move it "
                + "away: mv -n \(kept) \(other)"
        default: return ""
        }
    }

    static func limitSentence(_ limit: VaultLimit) -> String {
        switch limit {
        case .fileSize:
            "the vault would be larger than 64 MiB; remove entries that you no longer need"
        case .parcel:
            "a vault of more than 58 MiB cannot be moved; remove entries that you no longer need"
        case .entries: "the vault is full; it holds at most 100,000 entries"
        case .slots: "the vault already has 16 slots, the maximum; remove one first"
        case .name: "the issuer or the account is longer than 4,096 bytes"
        case .countedEntries:
            "failures are already counted for 90 entries, the maximum; open one of those entries successfully first"
        case .secret: "the secret is longer than 65,536 bytes"
        case .tags: "the entry has more than 64 tags"
        case .tag: "a tag is longer than 256 bytes"
        case .note: "the note is longer than 16,384 bytes"
        case .icon: "the name of the icon is longer than 256 bytes"
        case .generations: "the vault has been saved too many times; create a new vault"
        }
    }
}

extension Messages {
    /// An entry's type, parameters and access control in a few words.
    static func description(of entry: EntrySummary) -> String {
        if entry.tombstone != nil { return entry.hasVanished ? "vanished" : "wiped" }
        var words = [entry.kind.rawValue]
        if entry.kind.isUncomputed { words.append("not computed") }
        if let algorithm = entry.algorithm, algorithm != .sha1 { words.append(algorithm.rawValue) }
        switch entry.style {
        case .decimal(let length) where length.digits != 6: words.append("\(length.digits) digits")
        case .steam: words.append("steam")
        case .decimal, nil: break
        }
        if let period = entry.period, period != 30 { words.append("\(period) s") }
        if let access = description(of: entry.accessControl, for: entry.kind) {
            words.append(access)
        }
        if let place = place(of: entry) { words.append(place) }
        if entry.details.isFavourite { words.append("favourite") }
        if !entry.details.tags.isEmpty { words.append("[\(tags(of: entry))]") }
        return words.joined(separator: ", ")
    }

    /// The only device on which an entry opens; `nil` if it is not bound to one.
    static func place(of entry: EntrySummary) -> String? {
        entry.binding.map { $0.isHere ? "on this device" : "on " + VisibleText.of($0.name) }
    }

    /// An entry's tags, in its order.
    static func tags(of entry: EntrySummary) -> String {
        entry.details.tags.map { VisibleText.of($0) }.joined(separator: ", ")
    }
}
