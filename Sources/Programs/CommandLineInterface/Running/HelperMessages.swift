package import Exports
package import ProcessConfinement
package import WatchwordSystem

/// The messages about helper programs that `watchword` and `watchword-server` print.
package enum HelperMessages {
    /// The sentence for a file that a helper could not read.
    ///
    /// - Parameters:
    ///   - file: The noun for the file.
    ///   - reader: The noun for the process that read it.
    package static func sentence(for loss: HelperLoss, file: String, reader: String) -> String {
        switch loss {
        case .crashed(let signal): "the \(file) crashed the \(reader) (signal \(signal))"
        case .forbiddenCall: "the \(file) made the \(reader) attempt a forbidden system call"
        case .timedOut: "the \(file) took too long to read"
        case .tooMuchMemory: "the \(file) needs too much memory to read"
        case .badResponse: "the \(reader) sent an invalid response"
        case .noResponse: "the \(reader) ended without a response; try again"
        }
    }

    /// The sentence for a helper that did not start or that failed.
    ///
    /// - Parameters:
    ///   - program: The helper.
    ///   - starter: The program that starts the helper.
    ///   - unconfined: The action that was not performed if the helper cannot confine itself.
    package static func sentence(
        for failure: HelperFailure, of program: String, startedBy starter: String,
        unconfined: String
    ) -> String {
        switch failure {
        case .notFound: "\(program) is not installed beside \(starter); reinstall Watchword"
        case .cannotStart(let failure): "\(program) cannot start: " + sentence(for: failure)
        case .notConfined(let failure):
            "\(program) could not be sandboxed, so \(unconfined): " + sentence(for: failure)
        case .otherVersion:
            "\(program) and \(starter) have different versions; reinstall Watchword"
        case .died(let ending): "\(program) ended unexpectedly (\(describe(ending)))"
        case .system(let failure): sentence(for: failure)
        }
    }

    /// The sentence for a helper that reads files and did not start, or failed.
    ///
    /// - Parameters:
    ///   - program: `watchword-reader` or `watchword-exports`.
    ///   - starter: The program that starts the helper.
    package static func sentence(
        forReader failure: HelperFailure, _ program: String, startedBy starter: String
    ) -> String {
        if case .died = failure {
            return "\(program) exited immediately; a library may be missing"
        }
        return sentence(
            for: failure, of: program, startedBy: starter, unconfined: "nothing was read")
    }

    /// The sentence for a system call that failed.
    package static func sentence(for failure: SystemCallFailure) -> String {
        "\(failure.reason) (\(failure.call))"
    }

    private static func describe(_ ending: ChildProcess.Ending) -> String {
        switch ending {
        case .exited(let status): "status \(status)"
        case .crashed(let signal): "signal \(signal)"
        case .forbiddenCall: "forbidden system call"
        case .processorTimeSpent: "CPU time limit reached"
        case .killed: "killed"
        case .unknown: "unknown cause"
        }
    }
}

/// The sentences about other apps' exports that both command lines print.
package struct ExportMessages: Sendable {
    /// The command that imports a file.
    let command: String
    /// The command's option that raises the limits, `nil` if it has none.
    let raisingOption: String?

    /// - Parameters:
    ///   - command: The command that imports a file, such as `watchword import`.
    ///   - raisingOption: The command's option that raises the limits, if it has one.
    package init(command: String, raisingOption: String? = nil) {
        self.command = command
        self.raisingOption = raisingOption
    }

    /// The format of a file as a noun phrase, such as “an Aegis export”.
    package static func noun(for format: ExportFormat) -> String {
        let name = plainNoun(for: format)
        let first = name.lowercased().first ?? "x"
        // “a 2FAS export”, “a 1Password export”.
        return ("aeio".contains(first) ? "an " : "a ") + name
    }

    /// The noun phrase without an article.
    package static func plainNoun(for format: ExportFormat) -> String {
        switch format {
        case .uriList, .zipArchive: format.name
        case .keePass: "KeePass database"
        case .oathUsersFile, .watchwordSheet, .watchwordVault: format.name
        case .googlePAM, .passwordManagerCSV, .pskc: format.name + " file"
        default: format.name + " export"
        }
    }

    /// The sentence for a file that cannot be read.
    package func sentence(for error: ExportError) -> String {
        switch error {
        case .unknownFormat: "neither an image nor a known export or list of key URIs"
        case .passwordNeeded(nil):
            "neither an image nor a known export; if it is an encrypted one, use "
                + "--export-password-file FILE"
        case .wrongPassword(nil):
            "not an image or a known export, or an encrypted export with a different password"
        case .passwordNeeded(let format?):
            "\(Self.noun(for: format)), encrypted; enter its password, or use --export-password-file FILE"
        case .wrongPassword(.keePass):
            "a KeePass database, encrypted; wrong password, wrong or missing key file "
                + "(--key-file FILE), or the file is damaged"
        case .wrongPassword(let format?):
            "\(Self.noun(for: format)), encrypted; wrong password, or the file is damaged"
        case .damaged(let format):
            "\(Self.noun(for: format)), but it is damaged; export again"
        case .notJSON: "begins like JSON, but is damaged or truncated; export again"
        case .newerVersion(let format):
            "\(Self.noun(for: format)) of a newer version than Watchword supports; update Watchword"
        case .unreadable(let format, let obstacle): sentence(for: obstacle, in: format)
        case .overLimit(let format, let limit, let found, let allowed):
            (format.map { Self.noun(for: $0) + ", but " } ?? "")
                + Self.excess(limit, found: found) + "; the limit is \(allowed)"
                + advice(raises: error.isWithinRaisedLimits)
        case .noEntries(let format): "\(Self.noun(for: format)) without one-time passwords"
        case .outOfMemory: "there is not enough memory to read the file"
        }
    }

    /// The advice to raise the limits, if raised limits would help.
    package func advice(raises: Bool) -> String {
        guard raises, let raisingOption else { return "" }
        return "; if you trust the file, use \(raisingOption)"
    }

    private func sentence(for obstacle: ExportObstacle, in format: ExportFormat?) -> String {
        let noun = format.map(Self.noun) ?? "a file"
        return switch obstacle {
        case .accountRestricted:
            "\(noun) that only its account can open; export again as “password protected”"
        case .noPasswordSlot:
            "\(noun) that only the app can open, because it has no password; set one and export again"
        case .publicKeyEncryption:
            "\(noun), encrypted to a public key; decrypt it first, for example with gpg, and pipe it "
                + "to \(command) -"
        case .keePass1: "a KeePass 1 database; open it with KeePassXC and save it as KDBX 4"
        case .utf16: "UTF-16 text is not supported; save the file as UTF-8"
        case .unsupportedAlgorithm: "\(noun), encrypted with an algorithm that is not supported"
        case .badKeyFile: "\(noun), but the file given with --key-file is damaged"
        case .manifest:
            "the manifest of Steam Desktop Authenticator; import it together with its .maFile files"
        case .emptyArchive: "an empty zip archive; export again"
        case .unknownMembers:
            "a zip archive without a known export; unpack it, and import the files that it contains"
        case .unknownColumns:
            "CSV without a known column for one-time passwords, such as totp or otpauth; export in "
                + "another format"
        }
    }

    private static func excess(_ limit: ExportLimit, found: UInt64) -> String {
        switch limit {
        case .fileSize: "it has \(found) bytes"
        case .documentSize: "its content has \(found) bytes"
        case .compressionRatio: "it would expand to \(found) bytes, too many for its size"
        case .archiveMembers: "it has \(found) archive members"
        case .rows: "it has \(found) entries or values"
        case .depth: "it is nested \(found) levels deep"
        case .iterations: "its password needs \(found) rounds of key derivation"
        case .memory: "its password needs \(found) bytes of memory"
        case .blockSize: "its key derivation has a block size of \(found)"
        case .parallelism: "its key derivation has a parallelism of \(found)"
        }
    }
}
