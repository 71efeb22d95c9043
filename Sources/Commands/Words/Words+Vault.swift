import Cryptography
import OneTimePassword
import POSIX
import Presence
import SecretVault

// The vault.
extension Words {
    static func sentence(for error: VaultError) -> String {
        switch error {
        case .notFound: "there is no vault; watchword init makes one"
        case .alreadyExists: "there is something already; a vault is never written over"
        case .reservedPlace:
            "Watchword keeps its own files under the name .watchword; name another place"
        case .keptGeneration:
            "this is a generation that Watchword keeps, and only reads; copy it to another folder to "
                + "change it"
        case .folder: "this is a folder, not a vault"
        case .symbolicLink: "this is a symbolic link; name the vault itself"
        case .notAFile: "this is a device, a pipe or a socket, not a vault"
        case .otherOwner(let user): "the vault belongs to the user with number \(user), not to you"
        case .openToOthers(let mode):
            "others may get at the vault (mode 0\(String(mode, radix: 8))); chmod 600 it"
        case .overLimit(let limit): limitSentence(limit)
        case .notAVault: "this is no vault"
        case .newerVersion(let version):
            "a newer Watchword made this vault (format \(version)); use that one"
        case .newerAttempts(let version):
            "a newer Watchword counts the failures (format \(version)); use that one; "
                + "--recovery-key opens the vault without counting"
        case .truncated:
            "the end of the vault is missing"
        case .damaged(.recordGone):
            "an entry is gone and has left no tombstone: somebody took it out of the vault"
        case .damaged(.recordRevived(let id)):
            "an entry (\(id.text)) was wiped, and somebody put its old secret back into the vault; it "
                + "does not open"
        // The checksum is right, and the vault key says otherwise: no accident does that.
        case .damaged(.header), .damaged(.manifest), .damaged(.record), .damaged(.slot),
            .damaged(.changes):
            "somebody changed the vault without its key, or put parts of another one into it: an entry "
                + "may be gone, or less protected than you said"
        case .damaged(let part):
            "the vault is damaged (\(description(of: part, in: [])))"
        case .costOverCeiling(let logN, let ceiling):
            "trying the passphrase everywhere would cost as much as scrypt with N = 2^\(logN), and "
                + "the limit is 2^\(ceiling); "
                + (logN <= Vault.greatestCeiling
                    ? "if nobody else made or changed the vault, --max-unlock-cost \(logN) allows it"
                    : "nothing allows that much, and somebody changed the vault")
        case .notEnoughMemory(let needed, let limit):
            "trying the passphrase takes \(needed >> 20) MiB of memory, and this program may have "
                + "\(limit >> 20) MiB (the machine's memory, or ulimit -v or -d)"
        case .wrongPassphrase: "the passphrase does not open the vault"
        case .wrongRecoveryKey: "the recovery key does not open the vault"
        case .lockedOut(let seconds):
            "too many failures; the next try is possible in \(duration(seconds))"
        case .notCounted(let failure):
            "attempts are counted in .watchword beside the vault, and that failed "
                + "(\(sentence(for: failure))), so none was made; "
                + (failure.meansReadOnly
                    ? "make the folder writable, or give --read-only to read the vault; "
                    : "make room on the disk; ")
                + "--recovery-key opens the vault without counting"
        case .writable:
            "attempts can be counted here, so --read-only is not needed; leave it out"
        case .wipingDue:
            "an entry has had as many failures as it allows, and can't be wiped where nothing can be "
                + "written; open the vault where it can"
        case .openedReadOnly: "the vault is open to be read only; nothing was changed"
        case .proofRefused(.expired): "it is too long ago that you were there; try again"
        case .proofRefused(.otherPurpose): "you were asked for something else meanwhile; try again"
        case .presenceNeeded: "the entry asks for you at each use; run the command once more"
        case .otherCheckDemanded: "the entry accepts another check only; see watchword show"
        case .busy: "another program is changing the vault; try again"
        case .changedMeanwhile:
            "another program, such as one that synchronizes folders, replaced the vault while it was being "
                + "saved; its file was kept and nothing was saved; try again"
        case .rekeyed: "another program gave the vault a new key meanwhile; try again"
        case .replaced: "another vault was put in the place of this one meanwhile; try again"
        case .noSuchEntry: "the entry is gone; another program has removed it"
        case .wiped: "the entry was wiped; only its name is left"
        case .spaceAroundName:
            "the issuer or the account begins or ends with a space, or with a character that looks like "
                + "one; leave it out"
        case .otherKind: "the entry is of another kind than was asked for"
        case .counterExhausted:
            "the counter has reached its end; the issuer must hand out a new key"
        case .noSuchSlot: "there is no such slot; see watchword slot list"
        case .lastSlot: "the last way to open the vault stays; add another one first"
        case .inTheWay(let name):
            "in the vault's folder, \(VisibleText.of(name)) does not belong to the vault, and the name "
                + "is needed; move it away"
        case .previousNotErased(let failure):
            "the change is saved, but the generation before it is still in .watchword beside the "
                + "vault: " + sentence(for: failure)
        case .notConfirmed(let failure):
            "the change is saved, but it may not outlast a power cut, and nothing was purged: "
                + sentence(for: failure)
        case .system(let failure): sentence(for: failure)
        case .cryptography(let failure): sentence(for: failure)
        }
    }

    /// Where a vault that can't be used any more may still be had from.
    static func wayBack(from error: VaultError, at path: String) -> String {
        switch error {
        case .truncated, .damaged:
            // What is kept has no generation before it.
            guard !path.contains(".watchword/") else { return "" }
            let (folder, name) = OutputFile.split(path)
            let place = (folder == "." ? "" : folder + "/") + ".watchword/by-name/\(name)/previous"
            return "; the generation before it may be in \(place), which --vault opens"
        default: return ""
        }
    }

    static func limitSentence(_ limit: VaultLimit) -> String {
        switch limit {
        case .fileSize: "the vault would be larger than 64 MiB"
        case .entries: "the vault is full; it holds 100,000 entries"
        case .slots: "the vault has all the 16 slots that it may have"
        case .name: "an issuer or an account is longer than 4,096 bytes"
        case .countedEntries:
            "the failures of 90 entries are counted already; use one of those entries first"
        case .secret: "a secret is longer than 65,536 bytes"
        case .generations: "the vault was saved as often as it can be; make a new one"
        }
    }

    /// What is damaged.
    static func description(of part: VaultPart, in entries: [EntrySummary]) -> String {
        switch part {
        case .checksum: "its checksum"
        case .line(let number): "line \(number)"
        case .header: "its header"
        case .slot(let number): "slot \(number)"
        case .manifest: "the list of entries"
        case .changes: "the count of entries wiped without the key"
        case .record(let id), .content(let id): "the entry " + name(of: id, in: entries)
        case .recordGone(let id):
            "the entry \(name(of: id, in: entries)) is gone without a tombstone: somebody took it out"
        case .recordRevived(let id):
            "the entry \(name(of: id, in: entries)), which was wiped, has its old secret again"
        }
    }

    static func name(of id: RecordID, in entries: [EntrySummary]) -> String {
        entries.first { $0.id == id }?.name.visible ?? id.text
    }

    /// What the owner of a vault should be told.
    static func sentence(for report: VaultReport, in entries: [EntrySummary]) -> String {
        switch report {
        case .olderFile(let generation, let newest):
            "the vault is older (generation \(generation)) than one that was here (\(newest)): "
                + "what was changed since is missing, and counters may repeat"
        case .otherFile(let generation):
            "the vault is not the file that was saved here last (generation \(generation)): another copy, "
                + "or one that somebody changed, took its place; look at your entries"
        case .wipesNotListed(let error):
            "entries were wiped, but the vault could not be saved so that no older copy brings them "
                + "back: " + sentence(for: error)
        case .wiped(let id, let tombstone):
            "\(name(of: id, in: entries)) was wiped on \(Timestamp(unixTime: tombstone.time).text), "
                + "\(sentence(for: tombstone.reason)); its secret is gone, and watchword remove "
                + "takes its name away"
        case .generationNotMarked(let error):
            "the vault is saved, but not the mark beside it: " + sentence(for: error)
        case .failuresNotCleared(.notCounted(let failure)):
            "the vault is open, but the failures before are still counted: "
                + sentence(for: failure)
        case .failuresNotCleared(.newerAttempts):
            "the vault is open, but the failures before are still counted: a newer Watchword counts them"
        case .failuresNotCleared(let error):
            "the vault is open, but the failures before are still counted: " + sentence(for: error)
        case .failuresNotCounted:
            "the vault can't be written: it is open to be read only, and failures are not counted"
        case .notConfirmed(let failure):
            "the vault is saved, but it may not outlast a power cut: " + sentence(for: failure)
        case .folderOfOther(let user):
            "the vault's folder belongs to the user with number \(user), who can put an older vault "
                + "back"
        case .folderOpenToOthers(let mode):
            "others may write to the vault's folder (mode 0\(String(mode, radix: 8))) and can put an "
                + "older vault back; chmod go-w it"
        }
    }

    /// Why a secret was wiped.
    static func sentence(for reason: Tombstone.Reason) -> String {
        switch reason {
        case .failures: "after as many failures as it allows"
        case .revoked: "because the service revoked it"
        case .reuseDetected: "because the service saw two holders use it"
        case .tooManyFailures: "because the service was given too many wrong secrets"
        case .accountClosed: "because the service closed the account"
        }
    }

    /// The result of a check in a line.
    static func summary(of check: VaultCheck, generation: UInt64) -> String {
        let entries = "\(check.opened) \(check.opened == 1 ? "entry" : "entries") opened"
        let previous =
            switch check.previous {
            case .none: "no previous generation"
            case .whole(let generation): "the previous generation (\(generation)) is whole"
            case .unusable(let error): "the previous generation: " + sentence(for: error)
            }
        return "generation \(generation), \(entries), \(check.damages.count) damaged; \(previous)"
    }

    static func sentence(for error: RecoveryKeyError) -> String {
        switch error {
        case .length(let count, let expected):
            "a recovery key has \(expected) letters and digits, and here are \(count)"
        case .notALetter: "a recovery key has the letters A to Z and the digits 2 to 7 only"
        case .mistyped: "a character of the recovery key is wrong"
        }
    }

    /// What an entry is, in a few words.
    static func description(of entry: EntrySummary) -> String {
        if entry.tombstone != nil { return "wiped" }
        var words = [entry.kind.rawValue]
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
        return words.joined(separator: ", ")
    }
}
