internal import COpenSSL

// Fetched once; otherwise OpenSSL looks it up at each use.
@safe struct Digest: @unchecked Sendable {
    static let sha1 = unsafe Digest(handle: EVP_MD_fetch(nil, "SHA1", nil))
    static let sha256 = unsafe Digest(handle: EVP_MD_fetch(nil, "SHA2-256", nil))
    static let sha384 = unsafe Digest(handle: EVP_MD_fetch(nil, "SHA2-384", nil))
    static let sha512 = unsafe Digest(handle: EVP_MD_fetch(nil, "SHA2-512", nil))

    static var all: [Digest] { [sha1, sha256, sha384, sha512] }

    let handle: OpaquePointer?
}

/// The SHA-1 digest of `bytes`: 20 bytes.
///
/// SHA-1 is weak: no decision may rely on it.
package func sha1(_ bytes: Span<UInt8>) -> [UInt8] {
    digest(bytes, with: Digest.sha1, count: 20)
}

/// The SHA-256 digest of `bytes`: 32 bytes.
public func sha256(_ bytes: Span<UInt8>) -> [UInt8] {
    digest(bytes, with: Digest.sha256, count: 32)
}

/// The SHA-384 digest of `bytes`: 48 bytes.
public func sha384(_ bytes: Span<UInt8>) -> [UInt8] {
    digest(bytes, with: Digest.sha384, count: 48)
}

/// The SHA-512 digest of `bytes`: 64 bytes.
public func sha512(_ bytes: Span<UInt8>) -> [UInt8] {
    digest(bytes, with: Digest.sha512, count: 64)
}

private func digest(_ bytes: Span<UInt8>, with function: Digest, count: Int) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: count)
    guard let function = unsafe function.handle else { endProcess(after: .digest) }
    let done = unsafe bytes.withUnsafeBytes { bytes in
        unsafe EVP_Digest(bytes.baseAddress, bytes.count, &digest, nil, function, nil)
    }
    require(done == 1, .digest)
    return digest
}

extension HashAlgorithm {
    /// The digest of a secret; it is also secret.
    public func digest(of secret: SecretBytes) -> SecretBytes {
        var isDone = false
        let digest = unsafe SecretBytes(count: digestCount) { digest in
            isDone = secret.withBytes { secret in
                unsafe secret.withUnsafeBytes { secret in
                    unsafe EVP_Digest(
                        secret.baseAddress, secret.count, digest.baseAddress, nil, openSSL, nil)
                        == 1
                }
            }
        }
        require(isDone, .digest)
        return digest
    }

    /// OpenSSL's description of the algorithm, which lives as long as the process.
    var openSSL: OpaquePointer? {
        switch self {
        case .sha1: unsafe EVP_sha1()
        case .sha256: unsafe EVP_sha256()
        case .sha512: unsafe EVP_sha512()
        }
    }
}

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

/// The HMAC of a counter, kept in registers or on the stack.
///
/// It is as secret as the code that is derived from it.
public struct CounterDigest: Sendable {
    /// The digest in big-endian 32-bit words, padded with zeros.
    private let words: SIMD16<UInt32>
    /// The number of words in the digest: 5, 8 or 16.
    private let count: Int

    init(words: SIMD16<UInt32>, count: Int) {
        self.words = words
        self.count = count
    }

    /// The dynamic truncation of RFC 4226, section 5.3: a 31-bit number.
    ///
    /// The low four bits of the last byte are the offset of four bytes, of which the top bit is
    /// cleared.
    public var truncated: UInt32 {
        let offset = Int(words[count - 1] & 15)
        // The four bytes are in one word or in two adjacent ones. The offset is at most 15 and a
        // digest has at least 20 bytes, so the second word always exists.
        let pair = UInt64(words[offset >> 2]) << 32 | UInt64(words[(offset >> 2) + 1])
        return UInt32(truncatingIfNeeded: (pair &<< UInt64((offset & 3) * 8)) >> 32) & 0x7fff_ffff
    }

    /// The digest as bytes, without padding.
    public var bytes: [UInt8] {
        (0..<4 * count).map { index in
            UInt8(truncatingIfNeeded: words[index / 4] >> UInt32(24 - index % 4 * 8))
        }
    }
}
