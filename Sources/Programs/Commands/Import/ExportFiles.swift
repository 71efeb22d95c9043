import CommandLineInterface
import Exports
import SecretVault
import WatchwordCryptography
import WatchwordSystem

/// Reads exports in the confined reader; gets their passwords from an option or a prompt.
struct ExportFiles {
    private let session: Session
    /// The passwords from `--export-password-file`, once they have been read.
    private var givenPasswords: [SecretBytes]?
    /// The content of `--key-file`, once it has been read.
    private var givenKeyFile: SecretBytes?
    /// The last correct password from a prompt; people often use the same password for several
    /// exports.
    private var acceptedPassword: SecretBytes?

    /// The number of prompts for the password of one file.
    private static let mostPrompts = 3
    /// The longest password: the kernel's limit for a line on a terminal.
    private static let longestPassword = 4096
    /// The largest manifest or key file, 1 MiB.
    private static let longestPart = 1 << 20
    private static let helper = "watchword-exports"

    init(_ session: Session) { self.session = session }

    /// The limits that the options state.
    var limits: ExportLimits { session.arguments.has(.raiseLimits) ? .raised : .standard }

    /// Reads the content of `file`, and reads it again with a password if it is encrypted.
    mutating func read(_ content: SecretBytes, of file: String) throws -> ExportOutcome {
        let source = ExportSource(
            content, name: String(file.split(separator: "/").last ?? ""),
            manifest: manifest(beside: file, content), keyFile: try keyFile())
        let limits = limits
        let reader = try CommandFailure.naming(ExportFiles.helper) {
            try ExportProcess(limits: limits)
        }
        var outcome = try CommandFailure.naming(ExportFiles.helper) { try reader.read(source) }
        if let acceptedPassword, case .refused(.passwordNeeded(.some)) = outcome {
            let result = try decrypt(file, reader, acceptedPassword)
            // Prompt as usual if it is wrong.
            guard case .refused(.wrongPassword) = result else { return result }
        }
        for attempt in 0..<mostAttempts {
            guard case .refused(let error) = outcome,
                let password = try password(for: file, error, attempt)
            else { break }
            outcome = try decrypt(file, reader, password)
            if case .export = outcome { acceptedPassword = password }
        }
        return outcome
    }

    /// The result of opening a vault file.
    enum VaultOpening {
        case backup(VaultBackup)
        case refused(Finding.Refusal)
    }

    /// Opens a vault file with its passphrase.
    mutating func openVault(_ bytes: [UInt8], of file: String) throws -> VaultOpening {
        var error = ExportError.passwordNeeded(.watchwordVault)
        let vaults = try session.vaultsInUse()
        let own: String?
        do {
            own = try Vault.path(
                sharingPassphraseWith: bytes, at: file == "-" ? nil : file, among: vaults)
        } catch {
            return .refused(.vault(error))
        }
        // A password that was entered for a different file must not count as a failure.
        if let acceptedPassword, own == nil {
            let opening = backup(bytes, acceptedPassword)
            // Prompt as usual if it is wrong.
            guard case .refused(.export) = opening else { return opening }
        }
        for attempt in 0..<mostAttempts {
            guard let password = try password(for: file, error, attempt) else { break }
            let opening = backup(bytes, password, of: own)
            switch opening {
            case .backup: acceptedPassword = password
            case .refused(.export(let refusal)):
                error = refusal
                continue
            case .refused: break
            }
            return opening
        }
        return .refused(.export(error))
    }

    /// - Parameter own: the path of a vault in use with the same passphrase, for which failures
    /// count; `nil` if there is none.
    private func backup(
        _ bytes: [UInt8], _ password: SecretBytes, of own: String? = nil
    ) -> VaultOpening {
        session.printer.progress("opening the vault")
        defer { session.printer.endProgress() }
        do {
            if let own { try Vault.confirm(password, at: own) }
            return .backup(try VaultBackup(opening: bytes, passphrase: password))
        } catch {
            guard case .wrongPassphrase = error else { return .refused(.vault(error)) }
            return .refused(.export(.wrongPassword(.watchwordVault)))
        }
    }

    private func decrypt(
        _ file: String, _ reader: ExportProcess, _ password: SecretBytes
    ) throws -> ExportOutcome {
        let name = Finding.visibleName(of: file)
        session.printer.progress("\(name): decrypting; this can take a minute")
        defer { session.printer.endProgress() }
        return try CommandFailure.naming(ExportFiles.helper) {
            try reader.read(password: password)
        }
    }

    /// The manifest beside a file of Steam Desktop Authenticator, if there is one.
    private func manifest(beside file: String, _ content: SecretBytes) -> SecretBytes? {
        let parts = file.split(separator: "/", omittingEmptySubsequences: false)
        guard file != "-", content.count <= ExportFiles.longestPart, let name = parts.last,
            name.lowercased().hasSuffix(".mafile")
        else { return nil }
        let path = (parts.dropLast() + ["manifest.json"]).joined(separator: "/")
        // An unencrypted file needs no manifest; for an encrypted file, the reader reports the
        // missing manifest.
        return FileContent.readable(at: path, limit: ExportFiles.longestPart)
    }

    private mutating func keyFile() throws -> SecretBytes? {
        guard let path = session.arguments[.keyFile] else { return nil }
        if let givenKeyFile { return givenKeyFile }
        let content = try CommandFailure.naming(path) {
            try FileContent.whole(at: path, limit: ExportFiles.longestPart)
        }
        givenKeyFile = content
        return content
    }

    /// The maximum number of passwords that are tried on one file.
    private var mostAttempts: Int {
        max(ExportFiles.mostPrompts, session.arguments.values(of: .exportPasswordFile).count)
    }

    /// The passwords of all `--export-password-file` options.
    private mutating func passwordsFromFiles() throws -> [SecretBytes] {
        if let givenPasswords { return givenPasswords }
        var passwords: [SecretBytes] = []
        for path in session.arguments.values(of: .exportPasswordFile) {
            passwords.append(
                try SecretSource(path).readFirstLine(limit: ExportFiles.longestPassword))
        }
        givenPasswords = passwords
        return passwords
    }

    /// The password to try next; `nil` if there is none.
    private mutating func password(
        for file: String, _ error: ExportError, _ attempt: Int
    ) throws -> SecretBytes? {
        let format: ExportFormat?
        switch error {
        case .passwordNeeded(let needed), .wrongPassword(let needed): format = needed
        default: return nil
        }
        let passwords = try passwordsFromFiles()
        guard passwords.isEmpty else { return attempt < passwords.count ? passwords[attempt] : nil }
        // Any file in a folder may be random bytes; prompt only for a file that the user specified.
        guard format != nil || session.arguments.operands.contains(file) else { return nil }
        if attempt > 0 {
            let causes =
                format == .keePass
                ? "wrong password, wrong or missing key file (--key-file FILE)" : "wrong password"
            session.printer.complain(
                "\(causes), or the file is damaged; try again, or press Return to skip the file.")
        }
        session.printer.endProgress()
        do {
            let noun = format.map(ExportMessages.noun) ?? "perhaps an encrypted export"
            let question = Question.exportPassword(
                file: Finding.visibleName(of: file), format: noun)
            let answer = try question.ask()
            return answer.count > 0 ? answer : nil
        } catch CommandFailure.terminal(.none, _), CommandFailure.terminal(.ended, _) {
            return nil
        }
    }
}
