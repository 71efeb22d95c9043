import Cryptography
import JSONText
import POSIX

/// Foreign text made fit for a terminal: what steers it, or cannot be seen, is spelled out, and so nothing
/// a label or a picture holds can move the cursor, colour the screen, turn the line round, or hide.
enum VisibleText {
    /// The most bytes that one byte can become: a control character is `\u{1B}`.
    private static let growth = 6

    /// `text`, with what misleads as `\u{202E}`.
    static func of(_ text: String) -> String { text.visibleOnTerminal }

    /// The same for a secret; a byte that is no UTF-8 becomes `\x9F`.
    static func of(_ secret: SecretBytes) -> SecretBytes {
        secret.withBytes { bytes in
            SecretBytes(capacity: bytes.count * growth) { output in
                var elements = TextScalars()
                var reader = VisibleScalars()
                while let element = elements.next(in: bytes) {
                    switch element {
                    case .scalar(let scalar): append(reader.next(scalar), to: &output)
                    case .stray(let byte):
                        append(reader.next(nil), to: &output)
                        reader = VisibleScalars()
                        let digits = String(byte, radix: 16, uppercase: true)
                        output.append(ascii: "\\x\(digits)")
                    }
                }
                append(reader.next(nil), to: &output)
            }
        }
    }

    private static func append(
        _ decided: (scalar: Unicode.Scalar, isVisible: Bool)?,
        to output: inout OutputSpan<UInt8>
    ) {
        guard let (scalar, isVisible) = decided else { return }
        if isVisible { output.append(scalar) } else { output.append(ascii: scalar.spelledOut) }
    }
}
