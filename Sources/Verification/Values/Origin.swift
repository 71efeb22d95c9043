/// Where a request came from, for the record (NIST SP 800-63B-4, section 4.1).
///
/// Both texts are the client's own or a proxy's word, so nothing is decided by them. The client's id is
/// the service's own finding.
public struct Origin: Hashable, Sendable {
    /// The network address; empty when it is not known.
    public let address: String
    /// What the client calls itself; empty when it is not known.
    public let userAgent: String
    /// The application whose API key came with the request, or that the event is about; `nil` when there
    /// was none.
    public let client: ClientID?

    /// The most bytes that are kept of each.
    public static let maximalCount = 256
    /// Nothing is known.
    public static let unknown = Origin(address: "", userAgent: "")

    /// Keeps the first 256 bytes of each, at whole characters.
    public init(address: String, userAgent: String = "", client: ClientID? = nil) {
        self.address = address.prefix(bytes: Self.maximalCount)
        self.userAgent = userAgent.prefix(bytes: Self.maximalCount)
        self.client = client
    }
}

extension String {
    /// As many whole Unicode scalars from the front as fit into `bytes` bytes.
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
