import Arguments
import Cryptography
import ImageFile
import SymbolDrawing

/// `qr write`: a text becomes a symbol.
enum DrawSymbol {
    /// More than the largest symbol holds, so that its own error tells.
    private static let textLimit = 1 << 14

    static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        guard let path = session.arguments[.textFile] else {
            throw .usage(.missingOperand("--text-file FILE"))
        }
        let text = try SecretSource(path).read(limit: textLimit).withoutLastLineEnd()
        try draw(text, session)
        return .done
    }

    /// Writes `text` as the files that `--png` and `--svg` name, or shows it on standard output.
    static func draw(_ text: SecretBytes, _ session: Session) throws(CommandFailure) {
        let png = session.arguments[.png]
        let svg = session.arguments[.svg]
        // Pictures are printed and photographed; a screen is only looked at.
        if let png { try SecretFile.write(picture(of: text), to: png, session) }
        if let svg {
            try SecretFile.write(symbol(of: text, .medium).svg(), to: svg, session)
        }
        if png == nil, svg == nil { try show(text, session) }
    }

    /// Shows `text` as a symbol of block characters.
    static func show(_ text: SecretBytes, _ session: Session) throws(CommandFailure) {
        try session.printer.bytes(symbol(of: text, .low).terminal().span)
    }

    /// The PNG picture of `text`.
    ///
    /// Its bytes are as secret as the text is; they go into a file of the owner's next, and no library
    /// takes them from locked memory.
    static func picture(of text: SecretBytes) throws(CommandFailure) -> [UInt8] {
        let image = try symbol(of: text, .medium).image()
        do { return try writePNG(image) } catch { throw .picture(error) }
    }

    private static func symbol(of text: SecretBytes, _ correction: ErrorCorrection)
        throws(CommandFailure) -> Symbol
    {
        do {
            return try text.withBytes { bytes throws(SymbolDrawingError) in
                // A long text gets a symbol at all rather than a sturdier one.
                let fits = bytes.count <= correction.capacity
                return try Symbol(encoding: bytes, correction: fits ? correction : .low)
            }
        } catch {
            throw .symbol(error)
        }
    }
}
