/// A key URI, `otpauth://TYPE/LABEL?PARAMETERS`, as QR pictures carry it.
///
/// The Key URI Format of Google Authenticator's wiki is the nearest to a standard there is. Issuers
/// stray from it; a lenient reading says in ``warnings`` how, a strict one refuses. Neither changes
/// what is meant in silence.
public struct KeyURI: Sendable {
    /// How much of a URI's sloppiness is taken.
    public enum Reading: Hashable, Sendable {
        /// Everything that ``KeyURIWarning`` names.
        case lenient
        /// None of it.
        case strict
    }

    /// What the URI says.
    public let credential: Credential
    /// What had to be tolerated, in the order of the URI's parts.
    public let warnings: [KeyURIWarning]

    /// The most bytes that are read; a QR symbol holds fewer than 3,000.
    public static let maximalCount = 65_536

    /// Reads a URI.
    ///
    /// - Throws: ``KeyURIError``, which says which part, never what stands there.
    public init(
        parsing text: Span<UInt8>, reading: Reading = .lenient
    ) throws(KeyURIError) {
        var parser = KeyURIParser()
        credential = try parser.parse(text)
        warnings = parser.warnings
        if reading == .strict, let first = warnings.first { throw .notStrict(first) }
    }

    /// Whether `text` begins as a key URI does; the rest may still be wrong.
    public static func isKeyURI(_ text: Span<UInt8>) -> Bool { KeyURIScheme(of: text) != nil }
}
