/// The hash functions that one-time passwords use (RFC 6238, section 1.2).
public enum HashAlgorithm: String, CaseIterable, Hashable, Sendable {
    case sha1 = "SHA1"
    case sha256 = "SHA256"
    case sha512 = "SHA512"

    /// The length of a digest in bytes: 20, 32 or 64.
    ///
    /// It is also the key length that RFC 6238, section 5.1 recommends.
    public var digestCount: Int {
        switch self {
        case .sha1: 20
        case .sha256: 32
        case .sha512: 64
        }
    }

    /// The length of a block in bytes (FIPS 180-4): 64, 64 or 128.
    ///
    /// HMAC replaces a key that is longer than a block with its digest (RFC 2104, section 2).
    public var blockCount: Int { self == .sha512 ? 128 : 64 }
}
