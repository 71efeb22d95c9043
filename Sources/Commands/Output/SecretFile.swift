import Arguments
import CommandRunner
import POSIX
import SecretVault

/// Files with secrets: readable by their owner only, and never overwriting a file without
/// `--force`.
enum SecretFile {
    /// Writes `bytes` to the file named by an option; `-` is standard output.
    static func write(_ bytes: [UInt8], to path: String, _ session: Session)
        throws(CommandFailure)
    {
        if path == "-" {
            guard !session.printer.outputIsTerminal else { throw .pictureOnTerminal }
            return try session.printer.bytes(bytes.span)
        }
        // Never overwrite a vault, or a file that is kept for one, with an image.
        guard !Vault.isReservedPath(path) else {
            throw .vault(VisibleText.of(path), .reservedPath)
        }
        do {
            try OutputFile.write(
                bytes.span, to: path, replacing: session.arguments.has(.force),
                sparing: Vault.fileStart)
        } catch {
            throw .output(VisibleText.of(path), error)
        }
    }
}
