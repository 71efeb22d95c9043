public import WatchwordCryptography

/// A well-formed code as presented.
///
/// A malformed one is refused before it can change any state.
///
/// A code is 6 to 8 ASCII digits, or a recovery code: 16 Base32 characters, which were shown in
/// four groups (`ABCD-EFGH-IJKL-MNOP`). Variations in typing are tolerated: spaces and dashes
/// between the characters, or none, and lower case. All spellings are the same code. A text that
/// begins or ends with anything else, or contains digits of other scripts, a byte order mark or a
/// NUL, is not a code.
public struct PresentedCode: Sendable {
    /// The kind of code, determined by its form.
    enum Form: Hashable, Sendable {
        case oneTimePassword
        case recovery
    }

    let form: Form
    /// The characters, as ASCII: digits, or a recovery code as it was shown.
    let characters: SecretBytes

    /// The maximum length of a text in bytes.
    public static let maximumCount = 64

    /// Whether the code is a one-time password, not a recovery code.
    public var isOneTimePassword: Bool { form == .oneTimePassword }

    /// Parses a code.
    ///
    /// - Throws: ``VerifierError/malformedCode``, which reveals nothing about the text.
    public init(_ text: Span<UInt8>) throws(VerifierError) {
        guard (1...Self.maximumCount).contains(text.count), !Self.isSeparator(text[0]),
            !Self.isSeparator(text[text.count - 1])
        else { throw .malformedCode }
        let typed = SecretBytes(capacity: text.count) { output in
            for index in text.indices where !Self.isSeparator(text[index]) {
                output.append(text[index])
            }
        }
        let isOneTimePassword =
            (6...8).contains(typed.count) && typed.withBytes { Self.areDigits($0) }
        guard let code = isOneTimePassword ? typed : RecoveryCode.shown(typed) else {
            throw .malformedCode
        }
        form = isOneTimePassword ? .oneTimePassword : .recovery
        characters = code
    }

    /// Parses a code.
    ///
    /// - Throws: ``VerifierError/malformedCode``, which reveals nothing about the text.
    public init(_ text: SecretBytes) throws(VerifierError) {
        self = try text.withBytes { text throws(VerifierError) in try PresentedCode(text) }
    }

    private static func isSeparator(_ character: UInt8) -> Bool {
        character == UInt8(ascii: " ") || character == UInt8(ascii: "-")
    }

    private static func areDigits(_ text: Span<UInt8>) -> Bool {
        text.indices.allSatisfy { (0x30...0x39).contains(text[$0]) }
    }
}
