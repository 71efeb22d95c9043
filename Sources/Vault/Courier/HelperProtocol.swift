internal import WatchwordCoding
internal import WatchwordCryptography
internal import WatchwordSystem

// The protocol between `watchword` and `watchword-courier`, in frames (see `IncomingFrame`).
//
// - watchword → helper, once: a ``HelperRequest``.
// - helper → watchword, once: a ``Reply``.

/// The limits that both ends observe.
enum HelperProtocol {
    static let version: UInt8 = 4
    /// The maximum length of a request in bytes; most of it is certificates.
    static let largestRequest = 1 << 18
    /// The maximum length of a reply in bytes.
    static let largestReply = 1 << 12
    /// The maximum length in bytes of the authorities' certificates in a request.
    static let largestAuthorities = 1 << 17
    static let longestText = 1 << 10
    /// The maximum length of a public key or a signature in bytes.
    static let longestKey = 128
}

extension FieldReader {
    /// Reads a token that is a secret.
    mutating func secretToken(_ bytes: Span<UInt8>) throws(Unreadable) -> SecretBytes {
        let secret = try secret(bytes, limit: Token.longest)
        guard Token.isToken(secret) else { throw Unreadable() }
        return secret
    }
}
