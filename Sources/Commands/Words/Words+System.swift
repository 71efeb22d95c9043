import Cryptography
import POSIX

// The terminal, files, the system.
extension Words {
    /// What it means that so few bytes can be locked.
    static func sentence(forLockedMemory limit: Int) -> String {
        let how =
            limit == 0
            ? "no memory can be locked" : "only \(limit >> 10) KiB of memory can be locked"
        return how + " (RLIMIT_MEMLOCK), so secrets may be written to swap; raise “memlock” in "
            + "/etc/security/limits.conf, or LimitMEMLOCK= of the systemd unit"
    }

    static func sentence(for error: TerminalError, asking question: Question) -> String {
        switch error {
        case .none: "there is no terminal to ask on; " + wayOut(of: question)
        case .ended: "no answer came; nothing was done"
        case .tooLong: "the answer is too long; at most 4,095 bytes fit on a line"
        case .interrupted: "interrupted; nothing was done"
        case .system(let failure): "the terminal: " + sentence(for: failure)
        }
    }

    static func wayOut(of question: Question) -> String {
        switch question {
        case .passphrase, .passphraseAgain: "give --passphrase-file FILE (- is standard input)"
        case .newPassphrase, .newPassphraseAgain:
            "give the new passphrase with --passphrase-file or, where there is one already, "
                + "--new-passphrase-file"
        case .key, .plainSecret: "give --secret-file FILE (- is standard input)"
        case .recoveryKey, .recoveryKeyAgain, .shownRecoveryKey:
            "give --recovery-key-file FILE (- is standard input)"
        case .confirmation: "--yes answers the question"
        }
    }

    static func sentence(for error: InputFileError) -> String {
        switch error {
        case .missing: "there is no such file"
        case .forbidden: "you may not read it"
        case .folder: "this is a folder, where a file is needed"
        case .notAFile: "this is a device, a pipe or a socket, where a file is needed"
        case .pipe: "this is a pipe, where a file is needed"
        case .empty: "there is nothing in it"
        case .nameNotUTF8: "its name is not UTF-8; rename it"
        case .tooDeep: "there are too many folders in each other to be walked"
        case .utf16: "this is a text in UTF-16; save it as UTF-8"
        case .tooLarge(let limit): "it holds more than the \(limit) bytes that are read"
        case .system(let failure): sentence(for: failure)
        }
    }

    static func sentence(for error: OutputFileError) -> String {
        switch error {
        case .exists: "there is such a file already; --force writes over it"
        case .protected:
            "this is a Watchword vault, which --force does not replace; name another file"
        case .folder: "this is a folder; name a file in it"
        case .symbolicLink: "this is a symbolic link; name the file itself"
        case .notAFile: "this is a device, a pipe or a socket; name a file"
        case .noFolder: "the folder it should be in is not there"
        case .system(let failure): sentence(for: failure)
        }
    }

    static func sentence(for failure: SystemCallFailure) -> String {
        "\(failure.reason) (\(failure.call))"
    }

    static func sentence(for failure: CryptographyFailure) -> String {
        "OpenSSL could not do its work (\(failure.call.rawValue)); is there memory left?"
    }
}
