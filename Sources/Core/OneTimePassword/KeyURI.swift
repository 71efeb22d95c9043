/// A key URI, `otpauth://TYPE/LABEL?PARAMETERS`, as it appears in QR codes.
///
/// The Key URI Format in Google Authenticator's wiki is the closest there is to a standard. Issuers
/// deviate from it. A lenient reading reports each deviation in ``warnings``; a strict reading
/// refuses them. Neither changes the meaning silently.
public struct KeyURI: Sendable {
    /// Which deviations from the format are accepted.
    public enum Reading: Hashable, Sendable {
        /// All deviations that ``KeyURIWarning`` lists.
        case lenient
        /// None.
        case strict
    }

    /// The credential that the URI describes.
    public let credential: Credential
    /// The deviations that were accepted, in the order of the URI's parts.
    public let warnings: [KeyURIWarning]

    /// The maximum length of a URI in bytes.
    ///
    /// A QR code holds fewer than 3,000.
    public static let maximumCount = 65_536

    /// Reads a URI.
    ///
    /// - Throws: ``OneTimePasswordError``, which names the part, never its content.
    public init(
        parsing text: Span<UInt8>, reading: Reading = .lenient
    ) throws(OneTimePasswordError) {
        var parser = KeyURIParser()
        credential = try parser.parse(text)
        warnings = parser.warnings
        if reading == .strict, let first = warnings.first { throw .notStrict(first) }
    }

    /// Whether `text` begins like a key URI.
    ///
    /// The rest may still be invalid.
    public static func isKeyURI(_ text: Span<UInt8>) -> Bool { KeyURIScheme(of: text) != nil }
}

/// The schemes that a key URI may have.
enum KeyURIScheme: CaseIterable {
    case otpauth, appleOTPAuth

    /// The scheme and the slashes after it.
    private var prefix: String {
        switch self {
        case .otpauth: "otpauth://"
        case .appleOTPAuth: "apple-otpauth://"
        }
    }

    /// The length of the scheme and the slashes.
    var count: Int { prefix.utf8.count }

    /// Finds the scheme at the beginning of `text`, ignoring case (RFC 3986, section 3.1).
    init?(of text: Span<UInt8>) {
        for scheme in Self.allCases where text.hasPrefixIgnoringCase(scheme.prefix) {
            self = scheme
            return
        }
        return nil
    }
}
