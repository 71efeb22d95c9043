import CommandLineInterface
import SecretVault
import WatchwordCryptography
import WatchwordSystem

/// Files with secrets: readable by their owner only, which replace an existing file only with
/// `--force`.
enum SecretFile {
    /// Writes an image to the file that an option specifies; `-` is standard output.
    static func write(_ bytes: [UInt8], to path: String, _ session: Session) throws {
        guard path == "-" else { return try write(bytes.span, to: path, session) }
        guard !session.printer.outputIsTerminal else { throw CommandFailure.pictureOnTerminal }
        session.printer.warnIfOthersCanRead()
        try session.printer.bytes(bytes.span)
    }

    /// Writes a secret to the file at `path`.
    static func write(_ secret: SecretBytes, to path: String, _ session: Session) throws {
        try secret.withBytes { bytes in
            try write(bytes, to: path, session)
        }
    }

    /// Throws if a file exists at `path`, unless it may be replaced; called before any prompt.
    static func checkUnused(_ path: String, _ session: Session) throws {
        guard !session.arguments.has(.force) else { return }
        try CommandFailure.naming(path) {
            guard try !OutputFile.isTaken(path) else { throw FileError.exists }
        }
    }

    private static func write(_ bytes: Span<UInt8>, to path: String, _ session: Session) throws {
        try CommandFailure.naming(path) {
            // An image must never overwrite a vault, or a file that belongs to one.
            guard !Vault.isReservedPath(path) else { throw VaultError.reservedPath }
            try OutputFile.write(
                bytes, to: path, replacing: session.arguments.has(.force),
                sparing: Vault.fileStart)
        }
    }
}
