import CommandLineInterface
import Devices
import SecretVault
import WatchwordCryptography
import WatchwordSystem

// The terminal, files and the system.
extension Messages {
    /// The warning that no or little memory can be locked.
    static func sentence(forLockedMemory limit: Int) -> String {
        let how =
            limit == 0
            ? "no memory can be locked" : "only \(limit >> 10) KiB of memory can be locked"
        return how + " (RLIMIT_MEMLOCK), so secrets may be written to swap; raise “memlock” in "
            + "/etc/security/limits.conf or LimitMEMLOCK= in the systemd unit"
    }

    /// The reason why the agent does not hold a key.
    static func sentenceForKeyNotLocked(bySystem: Bool) -> String {
        let reason =
            "the agent does not hold the key, because it cannot lock memory for it "
            + "(RLIMIT_MEMLOCK), and the key could be written to swap; "
        return reason
            + (bySystem
                ? "ask an administrator to raise LimitMEMLOCK= in the agent's unit"
                : "raise “memlock” in /etc/security/limits.conf, or run watchword agent stop and "
                    + "then watchword unlock --unlocked-memory")
    }

    static let unsynchronizedClock =
        "the system clock is not synchronised; codes may be wrong"

    static func sentence(for error: TerminalError, asking question: Question) -> String {
        switch error {
        case .none: "no terminal to prompt on; " + cancellationAdvice(of: question)
        case .ended: "no answer; nothing was changed"
        case .tooLong: "the answer is too long; the limit is 4,095 bytes"
        case .interrupted: "interrupted; nothing was changed"
        case .system(let failure): "the terminal: " + sentence(for: failure)
        }
    }

    static func cancellationAdvice(of question: Question) -> String {
        switch question {
        case .passphrase, .passphraseAgain, .lockedOut:
            "use --passphrase-file FILE (- for standard input)"
        case .otherPassphrase: "use --copy-passphrase-file FILE (- for standard input)"
        case .newPassphrase, .newPassphraseAgain:
            "use --passphrase-file FILE for a new vault, --new-passphrase-file FILE for an "
                + "existing one"
        case .key, .keyOrURI, .hexKey, .plainSecret:
            "use --secret-file FILE (- for standard input)"
        case .name: "give the entry's NAME as an argument"
        case .recoveryKey, .recoveryKeyAgain, .shownRecoveryKey:
            "use --recovery-key-file FILE (- for standard input)"
        case .pin, .newPIN, .newPINAgain: "use --pin-file FILE (- for standard input)"
        case .exportPassword, .newExportPassword, .newExportPasswordAgain:
            "use --export-password-file FILE (- for standard input)"
        case .oldEdits: "use --old-edits keep or take"
        case .duplicate: "use --on-duplicate skip, replace or keep"
        case .confirmation: "use --yes to confirm"
        }
    }

    static func sentence(for error: FileError) -> String {
        switch error {
        case .missing: "no such file"
        case .noFolder: "the folder does not exist; create it first"
        case .forbidden: "permission denied"
        case .exists: "the file already exists; use --force to overwrite it"
        case .folder: "is a folder, not a file"
        case .namesFolder: "is a folder; specify a file in it"
        case .symbolicLink: "is a symbolic link; specify its target"
        case .notAFile: "not a regular file"
        case .notReplaceable: "not a regular file; choose a different file"
        case .pipe: "is a pipe, not a regular file"
        case .protected:
            "is a Watchword vault, which --force does not overwrite; choose a different file"
        case .empty: "is empty"
        case .tooLarge(let limit): "larger than the limit of \(limit) bytes"
        case .utf16: "UTF-16 text is not supported; save the file as UTF-8"
        case .nameNotUTF8: "the file name is not UTF-8; rename the file"
        case .tooDeep: "too many nested folders; specify an inner folder"
        case .otherOwner: "belongs to another user"
        case .openToOthers: "other users can access the file; run chmod 600 on it"
        case .busy: "another program is using the file; try again"
        case .inTheWay(let name): "“\(VisibleText.of(name))” beside it is in the way; move it away"
        case .changed: "another program has just replaced the file; try again"
        case .notConfirmed(let failure), .system(let failure): sentence(for: failure)
        }
    }

    static func sentence(for failure: SystemCallFailure) -> String {
        HelperMessages.sentence(for: failure)
    }

    static func sentence(for failure: CryptographyFailure) -> String {
        "OpenSSL failed (\(failure.call.rawValue)); the system may be out of memory"
    }
}

// The clipboard, and lists on the whole screen.
extension Messages {
    /// The copied code, and the time when the clipboard is cleared.
    static func copied(_ entry: EntryName, by route: ClipboardRoute, clearedAfter seconds: UInt32?)
        -> String
    {
        let copied = "Copied the code of \(entry.visible)"
        if case .terminal = route {
            return copied + " to the terminal's clipboard, which is not cleared."
        }
        guard let seconds else { return copied + "; the clipboard is not cleared." }
        return copied + "; the clipboard will be cleared in \(seconds) s."
    }

    static func sentence(for failure: ClipboardFailure) -> String {
        switch failure {
        case .noDisplay:
            "there is no desktop to copy to (neither WAYLAND_DISPLAY nor DISPLAY is set); "
                + "use --copy=osc52 to copy through the terminal"
        case .notInstalled(let packages):
            "no program for the clipboard is installed; on Debian, run apt install "
                + packages.joined(separator: " or ")
        case .refused(let tool):
            "\(tool.program) failed, so the code was not copied; it may be unable to reach the display"
        case .noTerminal: "there is no terminal to copy to"
        case .noHelper:
            "watchword-clipboard is not installed beside watchword; reinstall Watchword, or use "
                + "--clear-after 0"
        case .system(let failure): "the clipboard: " + sentence(for: failure)
        }
    }

    static func ended(after limit: Duration) -> String {
        "Ended after \(duration(limit.components.seconds)) without a key press."
    }
}
