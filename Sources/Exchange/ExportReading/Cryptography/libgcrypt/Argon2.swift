internal import CGcrypt
public import WatchwordCryptography

/// A variant of Argon2 (RFC 9106).
public enum Argon2Variant: Hashable, Sendable {
    case d, id

    var library: Int32 {
        switch self {
        case .d: Int32(GCRY_KDF_ARGON2D.rawValue)
        case .id: Int32(GCRY_KDF_ARGON2ID.rawValue)
        }
    }
}

/// A version of Argon2, which decides how later passes overwrite the memory.
public enum Argon2Version: Hashable, Sendable {
    /// 0x10, before RFC 9106, which KeePass databases can name; libargon2 computes it.
    case old
    /// 0x13, RFC 9106; libgcrypt computes it with less than 4 GiB of memory.
    case current
}

/// The cost of one Argon2 derivation.
public struct Argon2Cost: Hashable, Sendable {
    /// The memory in KiB.
    public let kibibytes: Int
    /// The number of passes over the memory.
    public let passes: Int
    /// The number of lanes; they are computed one after the other.
    public let lanes: Int

    /// Creates a cost, which the caller limits.
    ///
    /// RFC 9106, section 3.1 requires at least 8 KiB for each lane.
    public init(kibibytes: Int, passes: Int, lanes: Int) {
        precondition(lanes > 0 && passes > 0 && kibibytes >= 8 * lanes, "a cost is in range")
        self.kibibytes = kibibytes
        self.passes = passes
        self.lanes = lanes
    }
}

/// Derives `count` bytes from a password with Argon2.
///
/// - Parameters:
///   - secret: The optional secret K of RFC 9106.
///   - associatedData: The optional associated data X.
/// - Throws: ``ContainerError/outOfMemory`` if the memory of the cost is not available;
///   ``ContainerError/wrongPassword`` for an empty password, which the library refuses and no
///   app accepts.
public func argon2(
    _ variant: Argon2Variant, version: Argon2Version = .current, password: SecretBytes,
    salt: Span<UInt8>, cost: Argon2Cost, secret: [UInt8] = [], associatedData: [UInt8] = [],
    count: Int
) throws(ContainerError) -> SecretBytes {
    guard password.count > 0 else { throw .wrongPassword }
    // libgcrypt counts bytes in 32 bits.
    guard version == .current, cost.kibibytes < 4 << 20 else {
        return try referenceArgon2(
            variant, version: version, password: password, salt: salt, cost: cost,
            secret: secret, associatedData: associatedData, count: count)
    }
    try Libraries.prepare()
    let parameters = [
        UInt(count), UInt(cost.passes), UInt(cost.kibibytes), UInt(cost.lanes),
    ]
    var handle: gcry_kdf_hd_t?
    let opened = password.withBytes { password in
        unsafe password.withUnsafeBytes { password in
            unsafe salt.withUnsafeBytes { salt in
                unsafe gcry_kdf_open(
                    &handle, Int32(GCRY_KDF_ARGON2.rawValue), variant.library, parameters,
                    UInt32(parameters.count), password.baseAddress, password.count,
                    salt.baseAddress, salt.count, secret, secret.count, associatedData,
                    associatedData.count)
            }
        }
    }
    if let error = Libraries.error(opened) { throw error }
    defer { unsafe gcry_kdf_close(handle) }
    // Without operations for threads, the library computes one lane after the other.
    let computed = unsafe gcry_kdf_compute(handle, nil)
    if let error = Libraries.error(computed) { throw error }
    return try unsafe SecretBytes(count: count) { output throws(ContainerError) in
        let finished = unsafe gcry_kdf_final(handle, output.count, output.baseAddress)
        if let error = Libraries.error(finished) { throw error }
    }
}
