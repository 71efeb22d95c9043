import CommandLineInterface
import DeviceLogin
import OneTimePassword
import Pictures
import ProcessConfinement
import QRDrawing
import SecretVault
import VaultService
import WatchwordCryptography
import WatchwordSystem

/// The sentences for errors, warnings and results, all of which this type makes.
///
/// An error message says what is wrong, where, and what to do next. No message contains a secret.
enum Messages {
    /// The sentence for `failure`.
    static func sentence(for failure: CommandFailure) -> String {
        switch failure {
        case .at(let place, let error as VaultError):
            "\(place): " + sentence(for: error) + recoveryAdvice(from: error, at: place)
        case .at(let program, let failure as HelperFailure):
            HelperMessages.sentence(forReader: failure, program, startedBy: Verb.program)
        case .at(let place, let error): "\(place): " + FailureReport(error).sentence
        // These sentences already name the entry.
        case .inEntry(_, CommandFailure.presence(let refusal)): sentence(for: refusal)
        case .inEntry(_, CommandFailure.closed(let entry, let error)),
            .closed(let entry, let error):
            sentence(forClosed: entry, error)
        case .inEntry(_, CommandFailure.noCodes(let name, let kind)):
            sentence(for: CommandFailure.noCodes(name, kind))
        case .inEntry(let name, let error): "“\(name)”: " + FailureReport(error).sentence
        case .terminal(let error, let question): sentence(for: error, asking: question)
        case .pinEntry(let failure): sentence(for: failure)
        case .declined: "cancelled; nothing was changed"
        case .passphrasesDiffer: "the passphrases do not match; nothing was changed"
        case .pinsDiffer: "the PINs do not match; nothing was changed"
        case .badPIN(.tpm): "the PIN of a TPM must have 4 to 32 bytes"
        case .badPIN(.authenticator): "the PIN of an authenticator has at most 63 bytes"
        case .token(let failure, let token): sentence(for: failure, of: token)
        case .emptyPassphrase: "the passphrase is empty; choose one that is hard to guess"
        case .noPassphrase(let slots):
            "the vault has no passphrase (\(openers(of: slots))); run the command without a passphrase file"
        case .standardOutput(let failure): "standard output: " + sentence(for: failure)
        case .pictureOnTerminal: "images cannot be written to a terminal; specify a file"
        case .exportOnTerminal:
            "this format is for a file; use --output FILE, or --output - for standard output"
        case .noHome: "HOME is not set; use --vault FILE"
        case .exposed(let path, let exposure):
            "\(VisibleText.of(path)): " + sentence(for: exposure, at: path)
        case .wipesInMerge(let name):
            "the merge wipes \(name), which only a merge into the vault itself can do: leave git’s conflict unresolved, "
                + "get the other version with git show :3:./VAULT >FILE, and merge it with "
                + "watchword merge FILE"
        case .newerKeyInMerge(let path, let advice):
            "\(path) has a newer key than the vault, so former passphrases and removed slots of the vault "
                + "would open anything added to it; " + advice
        case .presence(let refusal): sentence(for: refusal)
        case .agentLocked(let reason): sentenceForLocked(reason)
        case .outOfReach(let path):
            "\(path): the running agent cannot reach this folder; run watchword agent stop and "
                + "unlock again, or use --no-agent"
        case .keyNotLocked(let bySystem): sentenceForKeyNotLocked(bySystem: bySystem)
        case .weakAgent:
            "the running agent was started with --unlocked-memory, and its keys may be written to "
                + "swap; run watchword agent stop, and unlock again"
        case .keptBySystem:
            "the system agent keeps the vault, and this command needs the vault's file; run "
                + "watchword vault move --to-user first, or specify a different vault with --vault"
        case .noVaultWhileStopped(let path):
            "\(path): no vault found; the system agent may keep it, but is not running; "
                + reasonForStop
        case .noSystemAgent:
            "there is no system agent; an administrator can install it (package "
                + "watchword-system-agent, or Scripts/install --system-agent)"
        case .twoVaults(let own, let system):
            "\(own) and the system agent's vault (\(system)) differ; rename \(own), then compare the two "
                + "before you delete either"
        case .moveUnfinished:
            "the vault is being moved to or from the system agent; wait until that has finished or, if it was "
                + "interrupted, run the same watchword vault move command again"
        case .moveRefused(let cost): sentence(forMoveRefused: cost)
        case .moveUnchecked(let failure):
            "the vault was not moved, because it has entries that only PAM opens: "
                + sentence(for: failure)
        case .systemCost(let logN, let limit):
            "unlocking this vault costs as much as scrypt with N = 2^\(logN), and the system agent accepts "
                + "at most 2^\(limit), whatever --max-unlock-cost allows; set a cheaper passphrase first: "
                + "watchword passphrase --scrypt-log-n \(limit)"
        case .deviceKey(let name, let error): "\(name): " + sentence(forKey: error)
        case .notAConfirmation(let file):
            "\(file): not a challenge file; the first line is the challenge (wwx_…), the second "
                + "expires_ms, and the rest is the text, in at most 20 lines"
        case .textTooTall(let needed, let available):
            "the text and the question take \(needed) lines of the terminal, which shows \(available), so "
                + "the beginning of the text would scroll away; enlarge the window, or reduce the font "
                + "size, and repeat the command"
        case .noSuchEntry(let name): "no entry matches “\(name)”; see watchword list"
        case .noSuchTag(let tag, let known): sentence(forUnknownTag: tag, known)
        case .noTaggedEntry(let tags, let name):
            "no entry has the \(tags.count == 1 ? "tag" : "tags") "
                + tags.map { "“\($0)”" }.joined(separator: " and ")
                + (name.map { " and matches “\($0)”" } ?? "") + "; see watchword list"
        case .ambiguousName(let name, let found):
            "“\(name)” matches several entries; use a longer name or an id:"
                + found.map { "\n  " + $0 }.joined()
        case .partOfName(let typed, let name):
            "“\(typed)” matches “\(name)” only in part; without a prompt, this command needs a whole "
                + "name, issuer, account or id"
        case .edit(.emptyName): sentence(for: UsageError.emptyName)
        case .edit(.nameTaken(let name)): sentence(for: CommandFailure.nameTaken(name.visible))
        case .edit(.noSuchTag(let name, let tag)):
            "“\(name.visible)” has no tag “\(VisibleText.of(tag))”"
        case .edit(.period):
            sentence(for: .badValue(Option.period.name, expected: "a whole number of seconds"))
        case .edit(.emptyKey): sentence(for: OneTimePasswordError.emptyKey)
        case .edit(.tooLong): sentence(for: OneTimePasswordError.tooLong)
        case .nameTaken(let name):
            "an entry named “\(name)” already exists; rename or remove it, or choose a different name"
        case .noCodes(let name, .secret):
            "“\(name)” is a static secret and has no codes; use watchword show --reveal"
        case .noCodes(let name, .enrolled):
            "“\(name)” is an enrolled secret, which has no codes and is never shown; use watchword "
                + "login present"
        case .noCodes(let name, .hotp): "“\(name)” is counter-based; use watchword code"
        case .noCodes(let name, let kind) where kind.isUncomputed:
            "“\(name)” has \(Self.name(ofUncomputed: kind)) codes; Watchword stores the key, but does "
                + "not compute these codes"
        case .noCodes(let name, _): "“\(name)” has no codes"
        case .notPlain(let name): "“\(name)” is not a static secret; use watchword show --uri"
        case .eachRequiresCheck:
            "every entry requires a check at each use; specify the entries to watch"
        case .nothingToWatch: "the vault has no time-based entries"
        case .nothingToPick: "the vault has no entries with codes"
        case .screen(.none):
            "no terminal to show the list on; watchword code NAME prints a code"
        case .screen(let error): sentence(for: error, asking: .passphrase)
        case .nothingToExport: "there is nothing to export in this format; no file was written"
        case .fingersDiffer(let difference): sentence(for: difference)
        case .fingersInOwnVault:
            "--fingers requires a vault that the system agent keeps; see watchword vault move --help"
        case .uriForKey(let place, .exportURI):
            "\(place): this is a URI, not a key; use watchword import FILE (- for standard input)"
        case .uriForKey(let place, _):
            "\(place): this is an otpauth:// URI, not a key; use watchword add --uri-file FILE "
                + "(- for standard input)"
        case .keyURI(let place, let error): "\(place): " + sentence(forURI: error)
        case .notComputed(let place, let kind):
            "\(place): \(name(of: kind)) codes are not computed"
        case .notOneAddress(let place, let found):
            found == 0
                ? "\(place): no otpauth:// URI found"
                : "\(place): \(found) otpauth:// URIs found; use watchword import to add them all"
        case .tooMuchToImport(let limit):
            "the files hold more than \(limit) items, and a vault holds at most 100,000 entries; "
                + "nothing was changed; import fewer files at a time"
        case .noImages: "no images found"
        case .pictureRefused(let place, let refusal): "\(place): " + sentence(for: refusal)
        case .screenshot(let failure): sentence(for: failure)
        case .camera(let failure): sentence(for: failure)
        }
    }
}

extension Messages {
    /// The sentence for a tag that no entry has.
    private static func sentence(forUnknownTag tag: String, _ known: [String]) -> String {
        let most = 12
        return "no entry has the tag “\(tag)”; "
            + (known.isEmpty
                ? "to add it to an entry, use watchword edit NAME --tag TAG"
                : known.count > most
                    ? "to see the \(known.count) tags of the vault, use watchword list --tags"
                    : "the tags of the vault are: " + known.joined(separator: ", "))
    }

    static func sentence(for error: UsageError) -> String {
        withoutSecret(error).sentence(program: Verb.program)
    }

    /// A secret in place of the command has a separate error, because the message for an unknown
    /// command repeats the words.
    private static func withoutSecret(_ error: UsageError) -> UsageError {
        guard case .unknownVerb(let text, _) = error else { return error }
        let words = [text] + text.split(separator: " ").map(String.init)
        guard let form = words.lazy.compactMap(SecretForm.init(inName:)).first else {
            return error
        }
        return .secretAsOperand("the command", form)
    }
}

extension Messages {
    /// `seconds` in words, to the second: `4 minutes 12 seconds`.
    ///
    /// Nothing is rounded, so that nobody tries again too early.
    static func duration(_ seconds: Int64) -> String {
        let parts: [(count: Int64, unit: String)] = [
            (seconds / 86_400, "day"), (seconds / 3_600 % 24, "hour"),
            (seconds / 60 % 60, "minute"), (seconds % 60, "second"),
        ]
        let said = parts.filter { $0.count > 0 }.map { part in
            "\(part.count) \(part.unit)\(part.count == 1 ? "" : "s")"
        }
        return said.isEmpty ? "less than a second" : said.joined(separator: " ")
    }
}
