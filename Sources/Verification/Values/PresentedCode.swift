public import Cryptography

/// A code as somebody presents it, well-formed or never made: so nothing else touches any state.
///
/// A code has one form: 6 to 8 ASCII digits, or a recovery code as it was shown, four groups of four
/// of Base32's characters (`ABCD-EFGH-IJKL-MNOP`). Spaces, other scripts' digits, a byte order mark
/// or a NUL make it something else, never the same code once more.
public struct PresentedCode: Sendable {
    /// What it can be a code of.
    enum Form: Hashable, Sendable {
        case oneTimePassword
        case recovery
    }

    let form: Form
    /// The characters, as ASCII.
    let characters: SecretBytes

    /// Takes a text that is well-formed.
    ///
    /// - Throws: ``PresentedCodeError``, which says nothing of what stands there.
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

    /// Takes a text that is well-formed.
    ///
    /// - Throws: ``PresentedCodeError``, which says nothing of what stands there.
    public init(_ text: SecretBytes) throws(PresentedCodeError) {
        self = try text.withBytes { text throws(PresentedCodeError) in try PresentedCode(text) }
    }

    private static func isDigit(_ character: UInt8) -> Bool { (0x30...0x39).contains(character) }
}

/// A text that is no code, whatever it was meant to be.
public enum PresentedCodeError: Error, Hashable, Sendable {
    /// Neither 6 to 8 ASCII digits nor a well-formed recovery code.
    case malformed
}
