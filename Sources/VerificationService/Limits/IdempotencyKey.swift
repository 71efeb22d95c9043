internal import Cryptography
internal import Verification

/// The name that a client gives a request, so that it may come twice and count once.
struct IdempotencyKey: Hashable, Sendable {
    /// The header field.
    static let header = "Idempotency-Key"
    /// What a key looks like: 1 to 255 visible ASCII characters.
    static let pattern = "^[!-~]{1,255}$"
    /// What OpenAPI says about it.
    static let explanation =
        "The same key and body get the same answer for 24 hours; the same key with another body is "
        + "refused. An answer that holds a secret ends when its credential comes into use, is revoked or "
        + "is deleted: from then on the same key gets 410. A random UUID is a good key."

    /// A digest of who asks and of the key: what an answer is kept under.
    let digest: [UInt8]
    /// A digest of the request under the key, which is not stored: a body may hold a short code.
    let request: [UInt8]

    /// Takes the key of a request; nothing when it has none.
    ///
    /// - Parameter asker: whose keys they are: the API client's id, or what a device proves itself by.
    init?(of request: ServiceRequest, asker: [UInt8]) throws(Problem) {
        guard let text = try request.value(of: Self.header) else { return nil }
        let key = Array(text.utf8)
        guard (1...255).contains(key.count), key.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .malformedHeader(Self.header)
        }
        do throws(CryptographyFailure) {
            digest = try sha256(([UInt8(asker.count)] + asker + key).span)
            var stream = try HMACStream(.sha256, key: SecretBytes(copying: key.span))
            for part in [request.method, request.target] {
                let bytes = Array(part.utf8)
                try stream.update(Array("\(bytes.count):".utf8).span)
                try stream.update(bytes.span)
            }
            try request.body.withBytes { body throws(CryptographyFailure) in
                try stream.update(body)
            }
            self.request = try stream.finish()
        } catch { throw .failed }
    }
}
