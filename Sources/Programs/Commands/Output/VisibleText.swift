import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// Makes untrusted text safe for a terminal by escaping control and invisible characters.
///
/// This prevents a label or a QR code from moving the cursor, changing colours, reversing the
/// direction of the text or hiding text.
enum VisibleText {
    /// The maximum number of output bytes per input byte: a control character becomes `\u{1B}`.
    private static let growth = 6

    /// `text` with misleading characters as escapes such as `\u{202E}`.
    static func of(_ text: String) -> String { text.visibleOnTerminal }

    /// `secret`, escaped in the same way; a byte that is not UTF-8 becomes an escape such as
    /// `\x9F`.
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
        if isVisible { output.append(scalar) } else { output.append(ascii: scalar.escapedForm) }
    }
}
