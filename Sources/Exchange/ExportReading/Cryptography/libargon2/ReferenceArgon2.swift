internal import CArgon2
internal import WatchwordCryptography

extension Argon2 {
    /// Derives `count` bytes with libargon2, its authors' implementation, where libgcrypt cannot.
    func referenceKey(
        from password: SecretBytes, salt: Span<UInt8>, count: Int
    ) throws(ContainerError) -> SecretBytes {
        let type = variant == .d ? Argon2_d : Argon2_id
        // The library takes pointers to bytes that it could change; these are copies.
        var salt = [UInt8](copying: salt)
        var secret = secret
        var associatedData = associatedData
        return try unsafe SecretBytes(count: count) { output throws(ContainerError) in
            let code = password.withBytes { password in
                unsafe password.withUnsafeBufferPointer { password in
                    unsafe salt.withUnsafeMutableBufferPointer { salt in
                        unsafe secret.withUnsafeMutableBufferPointer { secret in
                            unsafe associatedData.withUnsafeMutableBufferPointer { data in
                                var context = unsafe argon2_context()
                                unsafe context.out = output.baseAddress
                                unsafe context.outlen = UInt32(output.count)
                                // With flags of 0, the library only reads the password.
                                unsafe context.pwd = UnsafeMutablePointer(
                                    mutating: password.baseAddress)
                                unsafe context.pwdlen = UInt32(password.count)
                                unsafe context.salt = salt.baseAddress
                                unsafe context.saltlen = UInt32(salt.count)
                                if secret.count > 0 {
                                    unsafe context.secret = secret.baseAddress
                                    unsafe context.secretlen = UInt32(secret.count)
                                }
                                if data.count > 0 {
                                    unsafe context.ad = data.baseAddress
                                    unsafe context.adlen = UInt32(data.count)
                                }
                                unsafe context.t_cost = UInt32(clamping: passes)
                                unsafe context.m_cost = UInt32(clamping: kibibytes)
                                unsafe context.lanes = UInt32(clamping: lanes)
                                // A confined process starts no threads.
                                unsafe context.threads = 1
                                unsafe context.version =
                                    version == .old
                                    ? ARGON2_VERSION_10.rawValue : ARGON2_VERSION_13.rawValue
                                return unsafe argon2_ctx(&context, type)
                            }
                        }
                    }
                }
            }
            switch code {
            case ARGON2_OK.rawValue: break
            case ARGON2_MEMORY_ALLOCATION_ERROR.rawValue: throw .outOfMemory
            default: throw .unsupported
            }
        }
    }
}
