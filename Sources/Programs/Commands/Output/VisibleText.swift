import SecretVault
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

extension EntryName {
    var visible: String { text.isEmpty ? "(no name)" : VisibleText.of(text) }

    /// The full name, truncated to the width of a table column.
    var fittedToTable: String { visible.fitting(columns: EntryName.tableColumns) }

    /// Whether the table truncates the name, so that two names can look the same.
    var isTruncatedInTable: Bool { fittedToTable != visible }

    /// The maximum width of a name in a table, unless the terminal is narrower.
    static let tableColumns = 80
}

/// Text as one word of a shell command that the user can copy.
enum ShellWord {
    /// `text`, which may be a path, in single quotes; if it has control or invisible characters, as
    /// `$'…'` with their bytes in octal.
    ///
    /// The shell splits bytes, not characters: an apostrophe followed by a combining accent is one
    /// `Character`, but ends the quotes.
    static func quoted(_ text: String) -> String {
        // A command would treat the path as an option.
        guard text.utf8.first != UInt8(ascii: "-") else { return quoted("./" + text) }
        guard text.visibleOnTerminal == text else { return "$'" + escaped(text) + "'" }
        var quoted = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" { quoted += "'\\''" } else { quoted.unicodeScalars.append(scalar) }
        }
        return quoted + "'"
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            guard scalar.isInvisible || scalar == "'" || scalar == "\\" else {
                escaped.unicodeScalars.append(scalar)
                continue
            }
            for byte in String(scalar).utf8 {
                let digits = String(byte, radix: 8)
                escaped += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
            }
        }
        return escaped
    }
}
