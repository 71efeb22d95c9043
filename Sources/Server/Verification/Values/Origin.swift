/// The origin of a request, for the audit log (NIST SP 800-63B-4, section 4.1).
///
/// The address and the user agent are claims of the client or a proxy, so no decision depends on
/// them. The service itself determines the client's id.
public struct Origin: Hashable, Sendable {
    /// The network address; empty if unknown.
    public let address: String
    /// The user agent that the client claims; empty if unknown.
    public let userAgent: String
    /// The application whose API key came with the request, or that the event is about; `nil` if
    /// there is none.
    public let client: ClientID?

    /// The maximum number of bytes of each text.
    public static let maximumCount = 256
    /// An unknown origin.
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
