internal import Verification
internal import WatchwordCryptography

/// The formats of texts in the API; each has a pattern for OpenAPI and a check.
///
/// A test compares the two on sample texts.
enum TextForm: CaseIterable, Hashable, Sendable {
    /// A name, issuer or account: 1 to 255 bytes, no control characters, no surrounding spaces.
    case label
    /// A subject, which the application chooses: 1 to 255 bytes without NUL.
    case subject
    /// A device's own description.
    case userAgent
    /// A one-time password or a recovery code.
    case code
    /// A one-time password, not a recovery code.
    case oneTimePassword
    /// A seed in Base32 without padding. A seed of 15 bytes is well-formed here, so that the client
    /// gets the more specific `key-too-short`.
    case key
    /// An imported seed in Base32 without padding.
    ///
    /// Any shorter seed is well-formed here, so that the client gets `key-too-short`.
    case importedKey
    /// An imported seed that may have as few as 80 bits; otherwise as ``importedKey``.
    case shortKey
    case credential
    case client
    case verification
    case enrolmentTicket
    case loginTicket
    case secret
    /// The token of a ceremony in which a passkey signs in.
    case ceremony
    /// The token of a browser in which a passkey was used before.
    case knownDevice
    /// A challenge for a device key.
    case deviceChallenge
    /// A server address, as a device signs it.
    case audience
    /// A text that a device shows before its key signs it. A text with more lines than a device
    /// shows is well-formed here, so that the client gets the more specific `too-many-lines`.
    case shownText
    /// A public key, a signature or a digest in base64url without padding.
    case base64URL
    /// A certificate in base64url without padding.
    case certificate
    /// A structure of a TPM in base64url without padding.
    case structure
    /// A rotation nonce: 16 bytes in base64url.
    case nonce
    case keyURI
    case base64
    /// A time in RFC 3339 format.
    case time
    /// Any text, without a pattern.
    case any

    /// The characters at the end of an encoding whose last character carries four or two
    /// significant bits.
    private static let fourBits = "[AEIMQUYcgkosw048]"
    private static let twoBits = "[AQgw]"
    private static let base32Tail =
        "(?:[A-Z2-7][AEIMQUY4]|[A-Z2-7]{3}[AQ]|[A-Z2-7]{4}[ACEGIKMOQSUWY246]|[A-Z2-7]{6}[AIQY])"

    /// The format as a regular expression (ECMA-262) for JSON Schema; `nil` if any text is valid.
    var pattern: String? {
        switch self {
        case .label:
            "^[^\\u0000-\\u0020\\u007f](?:[^\\u0000-\\u001f\\u007f]*"
                + "[^\\u0000-\\u0020\\u007f])?$"
        case .subject: "^[^\\u0000]+$"
        case .userAgent: "^[^\\u0000-\\u001f\\u007f]*$"
        case .code:
            "^(?:[0-9](?:[ -]*[0-9]){5,7}|[A-Za-z2-7](?:[ -]*[A-Za-z2-7]){15})$"
        case .oneTimePassword: "^[0-9](?:[ -]*[0-9]){5,7}$"
        // The pattern for 16 to 129 bytes.
        case .key, .importedKey:
            "^(?:[A-Z2-7]{8}){3}(?:\(Self.base32Tail)"
                + "|(?:[A-Z2-7]{8}){1,22}\(Self.base32Tail)?)$"
        // The pattern for 10 to 129 bytes.
        case .shortKey: "^(?:[A-Z2-7]{8}){2,25}\(Self.base32Tail)?$"
        case .credential: "^cr_[A-Za-z0-9_-]{21}\(Self.twoBits)$"
        case .verification: "^vf_[A-Za-z0-9_-]{21}\(Self.twoBits)$"
        case .client: "^cl_[A-Za-z0-9_-]{21}\(Self.twoBits)$"
        case .enrolmentTicket: "^wwt_[A-Za-z0-9_-]{42}\(Self.fourBits)$"
        case .loginTicket: "^wwl_[A-Za-z0-9_-]{42}\(Self.fourBits)$"
        case .secret: "^wws_[A-Za-z0-9_-]{74}\(Self.fourBits)$"
        case .ceremony: "^wwc_[A-Za-z0-9_-]{42}\(Self.fourBits)$"
        case .knownDevice: "^wwd_[A-Za-z0-9_-]{42}\(Self.fourBits)$"
        case .deviceChallenge: "^wwx_[A-Za-z0-9_-]{42}\(Self.fourBits)$"
        case .audience: "^[!-~]+$"
        case .shownText:
            "^[^\\u0000-\\u001f\\u007f]*"
                + "(?:\\n[^\\u0000-\\u001f\\u007f]*){0,\(DeviceKeyTranscript.maximumLines - 1)}$"
        case .base64URL, .certificate, .structure:
            "^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2}\(Self.fourBits)"
                + "|[A-Za-z0-9_-]\(Self.twoBits))?$"
        case .nonce: "^[A-Za-z0-9_-]{21}\(Self.twoBits)$"
        case .keyURI: "^otpauth://(?:totp|hotp)/"
        case .base64: "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
        case .time:
            "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$"
        case .any: nil
        }
    }

    /// The permitted number of characters.
    ///
    /// The permitted number of bytes is the same.
    var counts: ClosedRange<Int>? {
        switch self {
        case .label, .subject: 1...255
        case .userAgent: 0...255
        case .code, .oneTimePassword: 6...PresentedCode.maximumCount
        case .audience, .shownText: 1...1_024
        case .base64URL: 2...128
        case .certificate: 2...5_462
        case .structure: 2...1_366
        default: nil
        }
    }

    /// A description of texts of this form, for problems and OpenAPI.
    var expectation: String {
        switch self {
        case .label:
            "text of 1 to 255 bytes, without control characters or leading or trailing spaces"
        case .subject: "text of 1 to 255 bytes, without NUL"
        case .userAgent: "text of at most 255 bytes, without control characters"
        case .code:
            "6 to 8 digits, or a recovery code of 16 letters and digits from 2 to 7; "
                + "between them, spaces and hyphens are permitted"
        case .oneTimePassword: "6 to 8 digits; between them, spaces and hyphens are permitted"
        case .key, .importedKey: "a key of 16 to 129 bytes in upper-case Base32, without padding"
        case .shortKey: "a key of 10 to 129 bytes in upper-case Base32, without padding"
        case .credential: "cr_ and 22 characters of base64url"
        case .client: "cl_ and 22 characters of base64url"
        case .verification: "vf_ and 22 characters of base64url"
        case .enrolmentTicket: "wwt_ and 43 characters of base64url"
        case .loginTicket: "wwl_ and 43 characters of base64url"
        case .secret: "wws_ and 75 characters of base64url"
        case .ceremony: "wwc_ and 43 characters of base64url"
        case .knownDevice: "wwd_ and 43 characters of base64url"
        case .deviceChallenge: "wwx_ and 43 characters of base64url"
        case .audience: "1 to 1024 visible ASCII characters"
        case .shownText:
            "text of 1 to 1024 bytes and at most \(DeviceKeyTranscript.maximumLines) lines, "
                + "without other control characters than line feeds"
        case .base64URL: "2 to 128 characters of base64url, without padding"
        case .certificate: "2 to 5462 characters of base64url, without padding"
        case .structure: "2 to 1366 characters of base64url, without padding"
        case .nonce: "22 characters of base64url, without padding"
        case .keyURI: "a key URI"
        case .base64: "Base64"
        case .time: "a time in RFC 3339 format, in UTC"
        case .any: "a string"
        }
    }

    /// The JSON Schema `format`, if there is one.
    var format: String? { self == .time ? "date-time" : nil }

    /// Whether the text has this form.
    func accepts(_ text: SecretBytes) -> Bool {
        if let counts, !counts.contains(text.count) { return false }
        return text.withBytes { text in
            switch self {
            case .label:
                Self.isPlain(text) && text[0] != 0x20 && text[text.count - 1] != 0x20
            case .userAgent: Self.isPlain(text)
            case .subject: text.indices.allSatisfy { text[$0] != 0 }
            case .code: Self.code(text) != nil
            case .oneTimePassword: Self.code(text)?.isOneTimePassword == true
            case .key: Self.isBase32(text, 24...207)
            case .importedKey, .shortKey: Self.isBase32(text, 2...207)
            case .credential:
                Self.string(text).flatMap { CredentialID(text: $0) } != nil
            case .verification:
                Self.string(text).flatMap { VerificationID(text: $0) } != nil
            case .enrolmentTicket: Token(.enrolmentTicket, text: text) != nil
            case .loginTicket: Token(.loginTicket, text: text) != nil
            case .secret: Token(.secret, text: text) != nil
            case .ceremony: Token(.ceremony, text: text) != nil
            case .knownDevice: Token(.knownDevice, text: text) != nil
            case .deviceChallenge: Token(.deviceChallenge, text: text) != nil
            case .audience: text.indices.allSatisfy { (0x21...0x7E).contains(text[$0]) }
            case .shownText:
                text.indices.allSatisfy { index in
                    text[index] == 0x0A || text[index] >= 0x20 && text[index] != 0x7F
                }
            case .base64URL, .certificate, .structure: Self.bytes(text) != nil
            case .nonce: Self.nonce(text) != nil
            case .client: Self.string(text).flatMap { ClientID(text: $0) } != nil
            // These forms occur only in responses.
            case .keyURI, .base64, .time, .any: true
            }
        }
    }

    /// Decodes base64url; `nil` if the text is malformed.
    static func bytes(_ text: Span<UInt8>) -> [UInt8]? {
        do throws(CryptographyError) { return try Base64URL.decode(text) } catch { return nil }
    }

    /// Decodes a rotation nonce; `nil` if the text is malformed.
    static func nonce(_ text: Span<UInt8>) -> RotationNonce? {
        text.count == 22 ? bytes(text).flatMap(RotationNonce.init) : nil
    }

    // JSON texts are valid UTF-8. C1 and format characters are permitted here; code that prints a
    // name escapes them.
    private static func isPlain(_ text: Span<UInt8>) -> Bool {
        text.indices.allSatisfy { text[$0] >= 0x20 && text[$0] != 0x7F }
    }

    private static func code(_ text: Span<UInt8>) -> PresentedCode? {
        do throws(VerifierError) { return try PresentedCode(text) } catch { return nil }
    }

    /// Base32 with this many characters; the decoder checks the unused bits.
    private static func isBase32(_ text: Span<UInt8>, _ counts: ClosedRange<Int>) -> Bool {
        counts.contains(text.count)
            && text.indices.allSatisfy { index in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(text[index])
                    || (UInt8(ascii: "2")...UInt8(ascii: "7")).contains(text[index])
            }
    }

    private static func string(_ text: Span<UInt8>) -> String? {
        String(validating: [UInt8](copying: text), as: UTF8.self)
    }
}
