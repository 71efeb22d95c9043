internal import Verification
internal import WatchwordCoding
internal import WatchwordCryptography

/// The client's key for a request, by which a repeated request is recognised.
struct IdempotencyKey: Hashable, Sendable {
    /// The header field.
    static let header = "Idempotency-Key"
    /// The form of a key: 1 to 255 visible ASCII characters.
    static let pattern = "^[!-~]{1,255}$"
    /// The description in OpenAPI.
    static let explanation =
        "The same key with the same request gets the same response for 24 hours. The same key with another "
        + "request gets 422. A response that contains a secret is deleted when its credential is used for the "
        + "first time, revoked or deleted; the same key then gets 410, except for device logins, which are "
        + "decided again. So are denials that are not stored: those without a check, and those of devices and "
        + "pages. Use a random UUID."

    /// A digest of the sender and the key: the stored response's primary key.
    let digest: [UInt8]
    /// A digest of the request, keyed with the idempotency key.
    ///
    /// That key is not stored: a body may contain a short code, which could be guessed from an
    /// unkeyed digest.
    let request: [UInt8]

    /// Reads the key of a request; `nil` if it has none, or if the sender is not identified.
    ///
    /// - Parameter asker: the sender's namespace: the API client's id, or a digest of the ticket,
    ///   secret or ceremony.
    init?(of request: HTTPRequest, asker: [UInt8]?) throws(Refusal) {
        guard let text = try request.value(of: Self.header) else { return nil }
        let key = Array(text.utf8)
        guard (1...255).contains(key.count), key.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Refusal(.malformedHeader(Self.header))
        }
        guard let asker else { return nil }
        digest = sha256(([UInt8(asker.count)] + asker + key).span)
        var stream = HMACStream(.sha256, key: SecretBytes(copying: key.span))
        for part in [request.method, request.target] {
            let bytes = Array(part.utf8)
            stream.update(Array("\(bytes.count):".utf8).span)
            stream.update(bytes.span)
        }
        request.body.withBytes { stream.update($0) }
        self.request = stream.finish()
    }
}
