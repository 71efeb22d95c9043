public import WatchwordCryptography

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
        /// No deviation is accepted.
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

extension KeyURI {
    /// Formats a credential as a key URI.
    ///
    /// The text is also secret.
    ///
    /// The algorithm, the number of digits, and the period or counter are always written, even if
    /// they have default values. A strict reading returns the same credential, unless both issuer
    /// and account are empty.
    public static func format(_ credential: Credential) -> SecretBytes {
        let head = headText(credential)
        let tail = tailText(credential)
        let count =
            head.utf8.count + Base32.encodedCount(of: credential.key.count) + tail.utf8.count
        return SecretBytes(capacity: count) { output in
            for byte in head.utf8 { output.append(byte) }
            Base32.encode(credential.key, into: &output)
            for byte in tail.utf8 { output.append(byte) }
        }
    }

    /// The length of the URI if every character of each text needs encoding, which is the maximum.
    static func longestCount(
        _ issuer: String, _ account: String, _ key: SecretBytes,
        _ parameters: [Credential.Parameter]
    ) -> Int {
        // The issuer occurs twice; the rest is the scheme, the type, names and four numbers.
        let texts = parameters.reduce(2 * issuer.utf8.count + account.utf8.count) {
            $0 + $1.name.utf8.count + $1.value.utf8.count + 1
        }
        return 200 + 3 * texts + Base32.encodedCount(of: key.count)
    }

    /// Everything before the key.
    private static func headText(_ credential: Credential) -> String {
        let type: String
        switch (credential.movingFactor, credential.style) {
        case (.counter, _): type = "hotp"
        case (.time, .decimal): type = "totp"
        case (.time, .steam): type = "steam"
        }
        let label = label(issuer: credential.issuer, account: credential.account)
        return "otpauth://\(type)/\(label)?secret="
    }

    /// The label, issuer and account, percent-encoded.
    package static func label(issuer: String, account: String) -> String {
        let needsColon = !issuer.isEmpty || account.utf8.contains(UInt8(ascii: ":"))
        return (needsColon ? issuer.percentEncoded + ":" : "") + account.percentEncoded
    }

    /// Everything after the key.
    private static func tailText(_ credential: Credential) -> String {
        var text = ""
        func append(_ name: String, _ value: String) { text += "&\(name)=\(value)" }
        if !credential.issuer.isEmpty { append("issuer", credential.issuer.percentEncoded) }
        append("algorithm", credential.algorithm.rawValue)
        append("digits", String(credential.style.length))
        if let encoder = encoder(credential) { append("encoder", encoder) }
        switch credential.movingFactor {
        case .time(let step):
            append("period", String(step.period))
            if step.start != 0 { append("t0", String(step.start)) }
        case .counter(let counter):
            append("counter", String(counter))
        }
        for parameter in credential.otherParameters {
            append(parameter.name.percentEncoded, parameter.value.percentEncoded)
        }
        return text
    }

    /// The encoder, which is written only if the type or the issuer could imply a different one.
    private static func encoder(_ credential: Credential) -> String? {
        switch (credential.style, credential.movingFactor) {
        case (.steam, .counter): "steam"
        // Some apps treat any code of this issuer as a Steam code.
        case (.decimal, .time) where credential.issuer.asciiLowercased == "steam": "decimal"
        default: nil
        }
    }
}

extension String {
    /// The text with all characters encoded except unreserved ones (RFC 3986, section 2.3) and `@`.
    package var percentEncoded: String {
        var encoded: [UInt8] = []
        for byte in utf8 {
            if byte.needsNoEncoding {
                encoded.append(byte)
            } else {
                encoded += byte.percentEncoded
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

extension SecretBytes {
    /// The same encoding of a secret text.
    package var percentEncoded: SecretBytes {
        withBytes { bytes in
            SecretBytes(capacity: 3 * bytes.count) { output in
                for index in bytes.indices {
                    let byte = bytes[index]
                    if byte.needsNoEncoding {
                        output.append(byte)
                    } else {
                        for character in byte.percentEncoded { output.append(character) }
                    }
                }
            }
        }
    }
}

extension UInt8 {
    fileprivate var needsNoEncoding: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "@"):
            true
        default: false
        }
    }

    fileprivate var percentEncoded: [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(self >> 4)], digits[Int(self & 15)]]
    }
}

/// A part of a key URI, for warnings and errors.
public enum KeyURIPart: Hashable, Sendable {
    case scheme, type, label, issuer, account
    case secret, algorithm, digits, period, counter, start, encoder
    /// A parameter that is not interpreted here, by its position among all parameters, counted from
    /// one.
    case parameter(Int)
}

/// A deviation from the key URI format, accepted by a lenient reading.
public enum KeyURIWarning: Hashable, Sendable {
    /// `apple-otpauth:`, which only Apple's software uses.
    case appleScheme
    /// Spaces, tabs or line breaks around the URI.
    case spacesAroundURI
    /// Spaces around a name; they are removed.
    case spacesAround(KeyURIPart)
    /// A space that is not percent-encoded.
    case rawSpace(KeyURIPart)
    /// A non-ASCII character that is not percent-encoded.
    case rawNonASCII(KeyURIPart)
    /// Bytes that are not UTF-8 and were read as Latin-1.
    case readAsLatin1(KeyURIPart)
    /// `#`, which begins a fragment in any other URI; it is read literally.
    case rawHash(KeyURIPart)
    /// `%` that is not followed by two hexadecimal digits; it is read literally.
    case rawPercent(KeyURIPart)
    /// `+` in a parameter, read as a space as in forms, unless the label contains the plus sign.
    case plusAsSpace(KeyURIPart)
    /// `+` in a parameter, read literally because the label also contains it.
    case plusKept(KeyURIPart)
    /// The label is missing.
    case emptyLabel
    /// An empty issuer, which is treated as absent.
    case emptyIssuer
    /// More than one unencoded colon in the label; the first one ends the issuer.
    case severalColons
    /// The issuer parameter differs from the label; the parameter takes precedence.
    case issuersDiffer
    /// A parameter's name is not in lower case.
    case parameterName(KeyURIPart)
    /// A parameter has no value and is treated as absent.
    case emptyValue(KeyURIPart)
    /// Two consecutive `&`, or one at the end.
    case emptyParameter
    /// The key deviates from Base32.
    case key(Base32Deviation)
    /// The algorithm's name has another spelling, such as `SHA-1`, `sha256` or `HmacSHA512`.
    case algorithmSpelling
    /// HOTP without a counter, which is treated as 0.
    case missingCounter
    /// Steam Guard, identified only by the issuer.
    case steamByIssuer
    /// Steam Guard, identified by `encoder=steam`.
    case steamByEncoder
    /// A parameter of the other type, such as a period for HOTP; it is kept but not used.
    case otherType(KeyURIPart)
    /// An unknown parameter; it is kept but not used.
    ///
    /// Its name is not reported, because a stray `&` can turn part of the key into a name.
    case unknownParameter(KeyURIPart)
    /// A name that other programs use, or that an error produced, for a known parameter, such as
    /// `step` or `amp;digits`; it is kept but not used, so codes may be wrong.
    case misnamedParameter(name: KeyURIParameterAlias)
}
