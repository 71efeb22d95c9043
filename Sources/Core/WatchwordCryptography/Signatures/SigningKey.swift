internal import COpenSSL

/// A private key on P-256, which stays in the locked heap.
public final class SigningKey: Sendable {
    /// The length of the scalar in bytes.
    public static let scalarCount = 32

    /// The private scalar, big-endian.
    public let scalar: SecretBytes
    /// The public point in its uncompressed form: a byte 4, x and y.
    public let point: [UInt8]
    let handle: KeyHandle

    /// Generates a random private key.
    public static func make() throws(CryptographyFailure) -> SigningKey {
        SecretHeap.prepare()
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else {
            throw CryptographyFailure(.sign)
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
            unsafe EVP_PKEY_generate(context, &made) == 1, let made = unsafe made
        else { throw CryptographyFailure(.sign) }
        let key = unsafe KeyHandle(owning: made)
        let scalar = try exportScalar(of: key)
        do {
            return try SigningKey(scalar: scalar)
        } catch {
            throw CryptographyFailure(.sign)
        }
    }

    /// Uses the scalar of an existing key.
    ///
    /// - Throws: ``CryptographyError/scalar`` if it does not have 32 bytes, is zero or is not below
    ///   the order of P-256.
    public init(scalar: SecretBytes) throws(CryptographyError) {
        guard scalar.count == Self.scalarCount else { throw .scalar }
        guard let number = scalar.withBytes({ BigNumber($0) }) else {
            throw .failed(CryptographyFailure(.sign))
        }
        let point = try Self.point(of: number)
        guard let handle = KeyHandle.ellipticCurve(.p256, point: point.span, scalar: number) else {
            throw .failed(CryptographyFailure(.sign))
        }
        self.scalar = scalar
        self.point = point
        self.handle = handle
    }

    /// Signs a message with ECDSA and SHA-256.
    ///
    /// The signature is in DER: at most 72 bytes. Two signatures of one message differ.
    public func sign(_ message: Span<UInt8>) throws(CryptographyFailure) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { throw CryptographyFailure(.sign) }
        defer { unsafe EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: 72)
        var count = signature.count
        let isSigned = unsafe handle.withKey { key in
            unsafe message.withUnsafeBufferPointer { message in
                unsafe EVP_DigestSignInit_ex(
                    context, nil, cString("SHA2-256"), nil, nil, key, nil) == 1
                    && EVP_DigestSign(
                        context, &signature, &count, message.baseAddress, message.count) == 1
            }
        }
        guard isSigned else { throw CryptographyFailure(.sign) }
        return Array(signature.prefix(count))
    }

    private static func exportScalar(
        of key: KeyHandle
    ) throws(CryptographyFailure) -> SecretBytes {
        // OpenSSL writes the number in the byte order of the machine.
        let native = try unsafe SecretBytes(count: scalarCount) {
            buffer throws(CryptographyFailure) in
            var parameters = unsafe [
                OSSL_PARAM_construct_BN(cString("priv"), buffer.baseAddress, buffer.count),
                OSSL_PARAM_construct_end(),
            ]
            guard unsafe key.withKey({ unsafe EVP_PKEY_get_params($0, &parameters) }) == 1 else {
                throw CryptographyFailure(.sign)
            }
        }
        guard UInt16(1).littleEndian == 1 else { return native }
        return SecretBytes(capacity: scalarCount) { output in
            native.withBytes { for index in $0.indices.reversed() { output.append($0[index]) } }
        }
    }

    /// The point that belongs to the scalar, if that is in its range.
    private static func point(
        of scalar: BigNumber
    ) throws(CryptographyError) -> [UInt8] {
        guard let group = unsafe EC_GROUP_new_by_curve_name(EllipticCurve.p256.openSSLNumber)
        else { throw .failed(CryptographyFailure(.sign)) }
        defer { unsafe EC_GROUP_free(group) }
        guard unsafe BN_is_zero(scalar.number) == 0,
            unsafe BN_cmp(scalar.number, EC_GROUP_get0_order(group)) < 0
        else { throw .scalar }
        guard let point = unsafe EC_POINT_new(group) else {
            throw .failed(CryptographyFailure(.sign))
        }
        defer { unsafe EC_POINT_free(point) }
        var encoded = [UInt8](repeating: 0, count: EllipticCurve.p256.pointCount)
        guard unsafe EC_POINT_mul(group, point, scalar.number, nil, nil, nil) == 1,
            unsafe EC_POINT_point2oct(
                group, point, POINT_CONVERSION_UNCOMPRESSED, &encoded, encoded.count, nil)
                == encoded.count
        else { throw .failed(CryptographyFailure(.sign)) }
        return encoded
    }
}
