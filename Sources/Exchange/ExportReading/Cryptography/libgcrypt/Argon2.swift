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

/// A derivation of a key with Argon2.
public struct Argon2: Hashable, Sendable {
    /// The variant of Argon2 to compute.
    public let variant: Argon2Variant
    /// The version of Argon2 to compute.
    public let version: Argon2Version
    /// The memory in KiB; RFC 9106, section 3.1 requires at least 8 KiB for each lane.
    public let kibibytes: UInt64
    /// The number of passes over the memory, at least one.
    public let passes: UInt64
    /// The number of lanes, at least one; they are computed one after the other.
    public let lanes: UInt64
    /// The optional secret K of RFC 9106.
    public var secret: [UInt8] = []
    /// The optional associated data X.
    public var associatedData: [UInt8] = []

    /// Creates a derivation without checking the cost, which may come from a file.
    public init(
        _ variant: Argon2Variant, version: Argon2Version = .current, kibibytes: UInt64,
        passes: UInt64, lanes: UInt64
    ) {
        self.variant = variant
        self.version = version
        self.kibibytes = kibibytes
        self.passes = passes
        self.lanes = lanes
    }

    /// Derives `count` bytes from a password; the caller limits the cost.
    ///
    /// - Throws: ``ContainerError/outOfMemory`` if the memory of the cost is not available;
    ///   ``ContainerError/wrongPassword`` for an empty password, which the library refuses and no
    ///   app accepts.
    public func key(
        from password: SecretBytes, salt: Span<UInt8>, count: Int
    ) throws(ContainerError) -> SecretBytes {
        precondition(lanes > 0 && passes > 0 && kibibytes / 8 >= lanes, "a cost is in range")
        guard password.count > 0 else { throw .wrongPassword }
        // libgcrypt counts bytes in 32 bits.
        guard version == .current, kibibytes < 4 << 20 else {
            return try referenceKey(from: password, salt: salt, count: count)
        }
        try Libraries.prepare()
        let parameters = [UInt(count), UInt(passes), UInt(kibibytes), UInt(lanes)]
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
}
