/// The origin of a request, for the audit log (NIST SP 800-63B-4, section 4.1).
///
/// The address and the user agent are claims of the client or a proxy, so no decision depends on
/// them. The service itself determines the client's id.
public struct Origin: Hashable, Sendable {
    /// The network address; empty if unknown.
    public let address: String
    /// The user agent that the client claims; empty if unknown.
    public let userAgent: String
    /// The application whose API key came with the request, or which is the object of the event;
    /// `nil` if there is none.
    public let client: ClientID?

    /// The maximum length of each text in bytes.
    public static let maximumCount = 256
    /// An origin without an address, a user agent and a client.
    public static let unknown = Origin(address: "", userAgent: "")

    /// Truncates each text to 256 bytes, at a character boundary.
    public init(address: String, userAgent: String = "", client: ClientID? = nil) {
        self.address = address.prefix(bytes: Self.maximumCount)
        self.userAgent = userAgent.prefix(bytes: Self.maximumCount)
        self.client = client
    }
}

extension String {
    /// The longest prefix of whole Unicode scalars that fits into `bytes` bytes.
    func prefix(bytes: Int) -> String {
        guard utf8.count > bytes else { return self }
        var kept = String.UnicodeScalarView()
        var count = 0
        for scalar in unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= bytes else { break }
            kept.append(scalar)
        }
        return String(kept)
    }
}

/// The owner of credentials: the application's own name for a user, 1 to 255 bytes of UTF-8.
///
/// Subjects are compared byte by byte, as in a database. `String` would treat `é` and `e` with a
/// combining accent as equal. The text may contain any character except NUL, including line breaks.
/// Escape it for output.
public struct Subject: Hashable, Sendable {
    /// The text as 1 to 255 bytes of UTF-8.
    public let utf8: [UInt8]

    /// The maximum length in bytes.
    public static let maximumCount = 255

    /// Accepts 1 to 255 bytes of valid UTF-8 without NUL, and returns `nil` otherwise.
    public init?(utf8: [UInt8]) {
        guard (1...Self.maximumCount).contains(utf8.count), !utf8.contains(0),
            String(validating: utf8, as: UTF8.self) != nil
        else { return nil }
        self.utf8 = utf8
    }

    /// Accepts text of 1 to 255 bytes without NUL.
    public init?(_ text: String) { self.init(utf8: Array(text.utf8)) }

    /// The subject as a string, which may contain line breaks.
    public var text: String { String(decoding: utf8, as: UTF8.self) }
}
