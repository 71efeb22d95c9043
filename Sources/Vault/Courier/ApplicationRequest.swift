internal import WatchwordCoding
public import WatchwordCryptography
package import WatchwordSystem

/// A request of an application to a route of its choice, with the API key of the
/// ``HelperRequest``.
public struct ApplicationRequest: Sendable {
    /// The HTTP methods of the API's routes.
    public enum Method: UInt8, CaseIterable, Hashable, Sendable {
        case get = 1, post, delete

        /// The method's name in the request line, in upper case.
        public var name: String {
            switch self {
            case .get: "GET"
            case .post: "POST"
            case .delete: "DELETE"
            }
        }
    }

    /// The HTTP method.
    public let method: Method
    /// The path and the query after the server's address, percent-encoded.
    public let target: String
    /// The body, in JSON; `nil` if there is none.
    public let body: SecretBytes?

    /// Combines the parts of a request; the caller keeps them within the limits of the protocol.
    public init(_ method: Method, _ target: String, body: SecretBytes? = nil) {
        self.method = method
        self.target = target
        self.body = body
    }

    /// The maximum length of a response's content in bytes.
    package static let largestContent = 2 << 20

    /// Whether the request is within the limits of the protocol, and its target needs no further
    /// encoding.
    package var isValid: Bool {
        target.hasPrefix("/") && target.utf8.count <= HelperProtocol.longestTarget
            && target.utf8.allSatisfy { (0x21..<0x7f).contains($0) }
            && body?.count ?? 0 <= HelperProtocol.longestTarget
    }
}

extension ApplicationRequest.Method: Transferable {}

extension ApplicationRequest: Transferable {
    package func write(to output: FrameWriter) { output.append(method, target, body) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        method = try fields.value(bytes)
        target = try fields.text(bytes, limit: HelperProtocol.longestTarget)
        body = try fields.value(bytes)
        guard isValid else { throw Unreadable() }
    }
}
