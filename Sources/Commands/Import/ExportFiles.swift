import Arguments
import CommandRunner
import Cryptography
import Interchange
import POSIX
import PictureReader

/// Reads exports in the confined reader; gets their passwords from an option or a prompt.
struct ExportFiles {
    private let session: Session
    /// The password from `--export-password-file`, once it has been read.
    private var givenPassword: SecretBytes?

    /// How often the command prompts for the password of one file.
    private static let mostAttempts = 3
    /// The longest password: the kernel's limit for a line on a terminal.
    private static let longestPassword = 4096

    init(_ session: Session) { self.session = session }

    /// Reads the content of `file`, and reads it again with a password if it is encrypted.
    ///
    /// - Parameter symbol: Receives each symbol if the file is a picture.
    mutating func read(
        _ content: SecretBytes, of file: String, symbol: (SecretBytes) -> Void
    ) throws(CommandFailure) -> ExportOutcome {
        let reader = try run { () throws(HelperFailure) in try ExportReader() }
        var outcome = try run { () throws(HelperFailure) in
            try reader.read(content) { symbol(SecretBytes(copying: $0)) }
        }
        for attempt in 0..<ExportFiles.mostAttempts {
            guard case .refused(let error) = outcome,
                let password = try password(for: file, error, attempt)
            else { break }
            let name = Finding.visibleName(of: file)
            session.printer.progress("\(name): decrypting; this can take a minute")
            outcome = try run { () throws(HelperFailure) in
                try reader.read(password: password)
            }
            session.printer.endProgress()
        }
        return outcome
    }

    private func run<Result>(
        _ body: () throws(HelperFailure) -> Result
    ) throws(CommandFailure) -> Result {
        do { return try body() } catch { throw .pictureReader(error) }
    }

    /// The password to try next; `nil` if there is none.
    private mutating func password(
        for file: String, _ error: ExportError, _ attempt: Int
    ) throws(CommandFailure) -> SecretBytes? {
        let format: ExportFormat?
        switch error {
        case .passwordNeeded(let needed), .wrongPassword(let needed): format = needed
        default: return nil
        }
        if let path = session.arguments[.exportPasswordFile] {
            guard attempt == 0 else { return nil }
            if let givenPassword { return givenPassword }
            let password = try SecretSource(path).readFirstLine(limit: ExportFiles.longestPassword)
            givenPassword = password
            return password
        }
        // Any file in a folder may be random bytes; prompt only for one that the user named.
        guard format != nil || session.arguments.operands.contains(file) else { return nil }
        if attempt > 0 {
            session.printer.complain(
                "wrong password, or the file is damaged; try again, or press Return to skip the file."
            )
        }
        session.printer.endProgress()
        do {
            let noun = format.map(Messages.noun) ?? "perhaps an encrypted export"
            let question = Question.exportPassword(
                file: Finding.visibleName(of: file), format: noun)
            let answer = try question.ask()
            return answer.count > 0 ? answer : nil
        } catch .terminal(.none, _), .terminal(.ended, _) {
            return nil
        }
    }
}
