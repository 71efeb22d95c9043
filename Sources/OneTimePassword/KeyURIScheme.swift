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
