import Arguments
import POSIX
import SecretVault

/// Files that hold secrets: the owner's alone, and never in the place of another one unasked.
enum SecretFile {
    /// Writes `bytes` to the file that an option named; `-` is standard output.
    static func write(_ bytes: [UInt8], to path: String, _ session: Session)
        throws(CommandFailure)
    {
        if path == "-" {
            guard !session.printer.outputIsTerminal else { throw .pictureOnTerminal }
            return try session.printer.bytes(bytes.span)
        }
        // Nobody means to write a picture over a vault, or over what the program keeps for one.
        guard !Vault.isReservedPlace(path) else {
            throw .vault(VisibleText.of(path), .reservedPlace)
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
