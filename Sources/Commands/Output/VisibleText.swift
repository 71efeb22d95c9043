import Cryptography
import JSONText
import POSIX

/// Foreign text made fit for a terminal: what steers it is spelled out, and so nothing a label or a
/// picture holds can move the cursor, colour the screen or turn the line round.
enum VisibleText {
    /// The most bytes that one byte can become: a stray byte is `\x` and two digits.
    private static let growth = 6

    /// `text`, with what misleads as `\u{202E}`.
    static func of(_ text: String) -> String { text.visibleOnTerminal }

    /// The same for a secret; a byte that is no UTF-8 becomes `\x9F`.
    static func of(_ secret: SecretBytes) -> SecretBytes {
        secret.withBytes { bytes in
            SecretBytes(capacity: bytes.count * growth) { output in
                var scalars = TextScalars()
                while let element = scalars.next(in: bytes) {
                    switch element {
                    case .scalar(let scalar) where scalar.misleads:
                        output.append(ascii: "\\u{\(hexadecimal(scalar.value))}")
                    case .scalar(let scalar): output.append(scalar)
                    case .stray(let byte): output.append(ascii: "\\x\(hexadecimal(UInt32(byte)))")
                    }
                }
            }
        }
    }

    private static func hexadecimal(_ value: UInt32) -> String {
        String(value, radix: 16, uppercase: true)
    }
}
