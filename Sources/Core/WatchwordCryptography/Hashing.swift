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
/// It is weak: nothing may be trusted because of it.
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
