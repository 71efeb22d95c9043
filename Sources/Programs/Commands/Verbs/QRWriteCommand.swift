import CommandLineInterface
import QRDrawing
import WatchwordCryptography

/// `qr write`: creates a QR code from a text.
enum QRWriteCommand {
    /// More than the largest QR code holds, so that the encoder reports the exact limit.
    private static let textLimit = 1 << 14

    static func run(_ session: Session) throws -> ExitCode {
        guard let path = session.arguments[.textFile] else {
            throw UsageError.missingOperand("--text-file FILE")
        }
        let text = try SecretSource(path).read(limit: textLimit).withoutLastLineEnd()
        try draw(text, session)
        return .done
    }

    /// Writes `text` as a QR code to the files of `--png` and `--svg`, or to standard output.
    static func draw(_ text: SecretBytes, _ session: Session) throws {
        let png = session.arguments[.png]
        let svg = session.arguments[.svg]
        // Images may be printed and photographed, so they get more error correction than a
        // terminal.
        if let png { try SecretFile.write(picture(of: text), to: png, session) }
        if let svg {
            try SecretFile.write(symbol(of: text, .medium).svg(), to: svg, session)
        }
        if png == nil, svg == nil {
            session.printer.warnIfOthersCanRead()
            try show(text, session)
        }
    }

    /// Prints `text` as a QR code of block characters.
    static func show(_ text: SecretBytes, _ session: Session) throws {
        try session.printer.bytes(symbol(of: text, .low).terminal().span)
    }

    /// The QR code of `text` as a PNG image.
    ///
    /// The bytes are as secret as the text, but libpng needs them in ordinary memory. They are
    /// written to a private file.
    static func picture(of text: SecretBytes) throws -> [UInt8] {
        try writePNG(symbol(of: text, .medium).image())
    }

    private static func symbol(of text: SecretBytes, _ correction: ErrorCorrection)
        throws -> Symbol
    {
        try text.withBytes { bytes in
            // A long text that exceeds the capacity gets less error correction.
            let fits = bytes.count <= correction.capacity
            return try Symbol(encoding: bytes, correction: fits ? correction : .low)
        }
    }
}
