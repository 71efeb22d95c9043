public import Cryptography

/// A well-formed code as presented.
///
/// A malformed one is refused before it can change any state.
///
/// A code has exactly one form: 6 to 8 ASCII digits, or a recovery code as it was shown, four
/// groups of four Base32 characters (`ABCD-EFGH-IJKL-MNOP`). A text that also contains spaces,
/// digits of other scripts, a byte order mark or a NUL is not a code.
public struct PresentedCode: Sendable {
    /// The kind of code, by its form.
    enum Form: Hashable, Sendable {
        case oneTimePassword
        case recovery
    }

    let form: Form
    /// The characters, as ASCII.
    let characters: SecretBytes

    /// Parses a code.
    ///
    /// - Throws: ``PresentedCodeError``, which reveals nothing about the text.
    public init(_ text: Span<UInt8>) throws(PresentedCodeError) {
        if (6...8).contains(text.count), text.indices.allSatisfy({ Self.isDigit(text[$0]) }) {
            form = .oneTimePassword
        } else if RecoveryCode.isWellFormed(text) {
            form = .recovery
        } else {
            throw .malformed
        }
        characters = SecretBytes(copying: text)
    }

    /// Parses a code.
    ///
    /// - Throws: ``PresentedCodeError``, which reveals nothing about the text.
    public init(_ text: SecretBytes) throws(PresentedCodeError) {
        self = try text.withBytes { text throws(PresentedCodeError) in try PresentedCode(text) }
    }

    private static func isDigit(_ character: UInt8) -> Bool { (0x30...0x39).contains(character) }
}

/// The text is not a code.
public enum PresentedCodeError: Error, Hashable, Sendable {
    /// Neither 6 to 8 ASCII digits nor a well-formed recovery code.
    case malformed
}
