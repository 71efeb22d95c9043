internal import COpenSSL

/// Derives `count` bytes from a passphrase with scrypt (RFC 7914).
///
/// `cost` determines the time it takes. It needs ``ScryptCost/memoryNeeded`` bytes of memory.
///
/// - Throws: ``CryptographyFailure``, usually because there is not enough memory.
public func scrypt(
    passphrase: SecretBytes, salt: Span<UInt8>, cost: ScryptCost, count: Int
) throws(CryptographyFailure) -> SecretBytes {
    try unsafe SecretBytes(count: count) { output throws(CryptographyFailure) in
        let done = passphrase.withBytes { passphrase in
            unsafe passphrase.withUnsafeBytes { passphrase in
                unsafe salt.withUnsafeBufferPointer { salt in
                    // An empty span may have a null address, which makes OpenSSL do something else.
                    let none: StaticString = ""
                    let text =
                        unsafe passphrase.baseAddress ?? UnsafeRawPointer(none.utf8Start)
                    return unsafe EVP_PBE_scrypt(
                        text.assumingMemoryBound(to: CChar.self), passphrase.count,
                        salt.baseAddress, salt.count, UInt64(1) << UInt64(cost.logN),
                        UInt64(cost.blockSize), UInt64(cost.parallelism),
                        UInt64(cost.memoryNeeded), output.baseAddress, count)
                }
            }
        }
        guard done == 1 else { throw CryptographyFailure(.scrypt) }
    }
}
