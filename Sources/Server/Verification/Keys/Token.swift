public import WatchwordCryptography

/// A long random value that grants its holder something: a ticket, a secret or an API key.
///
/// Its text is a prefix for its kind, followed by base64url. The text is a secret.
public struct Token: Sendable {
    /// The purpose for which a token was issued.
    public enum Kind: CaseIterable, Hashable, Sendable {
        /// Lets a device fetch its secret.
        case enrolmentTicket
        /// Reports to an application who signed in.
        case loginTicket
        /// Signs a device in, once.
        case secret
        /// Identifies the application that sends a request.
        case clientKey
        /// Identifies a ceremony in which a passkey signs in.
        case ceremony
        /// Is signed by a device key.
        case deviceChallenge
        /// Recognises a browser in which a passkey was used before.
        case knownDevice

        /// The prefix of the token's text.
        public var prefix: String {
            switch self {
            case .enrolmentTicket: "wwt_"
            case .loginTicket: "wwl_"
            case .secret: "wws_"
            case .clientKey: "wwk_"
            case .ceremony: "wwc_"
            case .deviceChallenge: "wwx_"
            case .knownDevice: "wwd_"
            }
        }

        /// The number of bytes.
        ///
        /// A secret consists of 32 bytes, its generation and its mark; an API key, of 32 bytes and
        /// their mark.
        package var count: Int {
            switch self {
            case .secret: SecretParts.count
            case .clientKey: 32 + LookupKey.clientKeyMarkCount
            default: 32
            }
        }

        /// Whether a token may have this number of bytes: API keys of older versions lack the mark.
        func permits(_ count: Int) -> Bool {
            count == self.count || self == .clientKey && count == 32
        }
    }

    /// The purpose of the token, which the prefix encodes.
    public let kind: Kind
    /// The token without its prefix.
    let bytes: SecretBytes

    package init(_ kind: Kind, _ bytes: SecretBytes) {
        precondition(
            kind.permits(bytes.count), "a token must have its kind's number of bytes")
        self.kind = kind
        self.bytes = bytes
    }

    /// Parses the text of a token of this kind; `nil` if the text is malformed.
    ///
    /// A well-formed token is not necessarily valid. Each token has exactly one text.
    public init?(_ kind: Kind, text: Span<UInt8>) {
        let prefix = Array(kind.prefix.utf8)
        guard text.count > prefix.count, text.count <= 128,
            prefix.indices.allSatisfy({ text[$0] == prefix[$0] })
        else { return nil }
        do throws(CryptographyError) {
            let bytes = try Base64URL.decodeSecret(text.extracting(prefix.count...))
            guard kind.permits(bytes.count) else { return nil }
            self.init(kind, bytes)
        } catch { return nil }
    }

    /// The text, which its owner sees once.
    public var text: SecretBytes {
        let rest = Base64URL.encode(bytes)
        return SecretBytes(capacity: kind.prefix.utf8.count + rest.count) { output in
            for byte in kind.prefix.utf8 { output.append(byte) }
            rest.withBytes { output.append(copying: $0) }
        }
    }
}
