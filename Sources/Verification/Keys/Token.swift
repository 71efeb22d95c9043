public import Cryptography

/// A long random text that is worth something to who has it: a ticket, a secret, an API key.
///
/// As text it is a prefix, which says what it is, and base64url. The text is a secret.
public struct Token: Sendable {
    /// What a token is.
    public enum Kind: CaseIterable, Hashable, Sendable {
        /// Fetches a device's secret.
        case enrolmentTicket
        /// Tells who signed in.
        case loginTicket
        /// Signs in, once.
        case secret
        /// Says which application asks.
        case clientKey

        /// What its text begins with.
        public var prefix: String {
            switch self {
            case .enrolmentTicket: "wwt_"
            case .loginTicket: "wwl_"
            case .secret: "wws_"
            case .clientKey: "wwk_"
            }
        }

        /// How many bytes it has.
        ///
        /// A secret is 32 bytes, its generation and the mark by which it is known again.
        var count: Int { self == .secret ? PresentedSecret.count : 32 }
    }

    /// What it is.
    public let kind: Kind
    /// Its bytes.
    let bytes: SecretBytes

    init(_ kind: Kind, _ bytes: SecretBytes) {
        precondition(bytes.count == kind.count, "a token of a kind has so many bytes")
        self.kind = kind
        self.bytes = bytes
    }

    /// Reads the text of a token of this kind; nothing unless it is well-formed.
    ///
    /// That says nothing of its worth. Each token has one text.
    public init?(_ kind: Kind, text: Span<UInt8>) {
        let prefix = Array(kind.prefix.utf8)
        guard text.count > prefix.count, text.count <= 128,
            prefix.indices.allSatisfy({ text[$0] == prefix[$0] })
        else { return nil }
        do throws(Base64Error) {
            let bytes = try Base64URL.decodeSecret(text.extracting(prefix.count...))
            guard bytes.count == kind.count else { return nil }
            self.init(kind, bytes)
        } catch { return nil }
    }

    /// The text, which its owner gets once.
    public var text: SecretBytes {
        let rest = Base64URL.encode(bytes)
        return SecretBytes(capacity: kind.prefix.utf8.count + rest.count) { output in
            for byte in kind.prefix.utf8 { output.append(byte) }
            rest.withBytes { output.append(copying: $0) }
        }
    }
}
