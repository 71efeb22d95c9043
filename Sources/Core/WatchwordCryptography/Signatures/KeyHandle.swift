internal import COpenSSL
internal import Synchronization

// `@unchecked Sendable`: the key is changed only while it has a single owner, and OpenSSL counts
// references atomically.
/// OpenSSL's key.
@safe final class KeyHandle: @unchecked Sendable {
    private let key: OpaquePointer

    /// Takes ownership of `key`.
    init(owning key: OpaquePointer) { unsafe self.key = key }

    deinit { unsafe EVP_PKEY_free(key) }

    func withKey<Result: ~Copyable, Failure: Error>(
        _ body: (OpaquePointer) throws(Failure) -> Result
    ) throws(Failure) -> Result { try unsafe body(key) }

    /// A public key on an elliptic curve.
    ///
    /// OpenSSL refuses points that are not on the curve. Give the key back to ``SpareKeys`` when it
    /// is no longer used.
    static func ellipticCurve(_ curve: EllipticCurve, point: Span<UInt8>) -> KeyHandle? {
        guard let spare = SpareKeys.on(curve).take() else { return nil }
        let isSet = unsafe spare.withKey { key in
            unsafe point.withUnsafeBufferPointer { point in
                unsafe EVP_PKEY_set1_encoded_public_key(key, point.baseAddress, point.count) == 1
            }
        }
        return isSet ? spare : nil
    }

    /// A key on an elliptic curve with its private half.
    static func ellipticCurve(
        _ curve: EllipticCurve, point: Span<UInt8>, scalar: BigNumber
    ) -> KeyHandle? {
        guard let builder = unsafe OSSL_PARAM_BLD_new() else { return nil }
        defer { unsafe OSSL_PARAM_BLD_free(builder) }
        return unsafe point.withUnsafeBytes { point in
            guard
                unsafe OSSL_PARAM_BLD_push_utf8_string(
                    builder, cString("group"), cString(curve.openSSLName), 0) == 1,
                unsafe OSSL_PARAM_BLD_push_octet_string(
                    builder, cString("pub"), point.baseAddress, point.count) == 1,
                unsafe OSSL_PARAM_BLD_push_BN(builder, cString("priv"), scalar.number) == 1
            else { return nil }
            return unsafe build("EC", builder, WATCHWORD_EVP_PKEY_KEYPAIR)
        }
    }

    static func rsa(modulus: Span<UInt8>, exponent: Span<UInt8>) -> KeyHandle? {
        guard let builder = unsafe OSSL_PARAM_BLD_new() else { return nil }
        defer { unsafe OSSL_PARAM_BLD_free(builder) }
        guard let modulus = BigNumber(modulus), let exponent = BigNumber(exponent),
            unsafe OSSL_PARAM_BLD_push_BN(builder, cString("n"), modulus.number) == 1,
            unsafe OSSL_PARAM_BLD_push_BN(builder, cString("e"), exponent.number) == 1
        else { return nil }
        return unsafe build("RSA", builder, WATCHWORD_EVP_PKEY_PUBLIC_KEY)
    }

    static func ed25519(_ point: Span<UInt8>) -> KeyHandle? {
        let made = unsafe point.withUnsafeBufferPointer { point in
            unsafe EVP_PKEY_new_raw_public_key_ex(
                nil, "ED25519", nil, point.baseAddress, point.count)
        }
        return unsafe made.map { unsafe KeyHandle(owning: $0) }
    }

    /// A key that has only a curve.
    fileprivate static func empty(on curve: EllipticCurve) -> KeyHandle? {
        guard let builder = unsafe OSSL_PARAM_BLD_new() else { return nil }
        defer { unsafe OSSL_PARAM_BLD_free(builder) }
        guard
            unsafe OSSL_PARAM_BLD_push_utf8_string(
                builder, cString("group"), cString(curve.openSSLName), 0) == 1
        else { return nil }
        return unsafe build("EC", builder, WATCHWORD_EVP_PKEY_KEY_PARAMETERS)
    }

    fileprivate func copy() -> KeyHandle? {
        unsafe EVP_PKEY_dup(key).map { unsafe KeyHandle(owning: $0) }
    }

    private static func build(
        _ type: String, _ builder: OpaquePointer, _ selection: some BinaryInteger
    ) -> KeyHandle? {
        guard let parameters = unsafe OSSL_PARAM_BLD_to_param(builder) else { return nil }
        defer { unsafe OSSL_PARAM_free(parameters) }
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, type, nil) else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_fromdata_init(context) == 1,
            unsafe EVP_PKEY_fromdata(context, &key, Int32(selection), parameters) == 1,
            let key = unsafe key
        else { return nil }
        return unsafe KeyHandle(owning: key)
    }
}

/// The unused public keys on a curve, which can be given a new point.
///
/// When OpenSSL makes a key from its values, it computes the constants of the curve again, which
/// takes half as long as a signature check. Copying a key that has no point takes a quarter of that
/// time, and setting a new point a twentieth.
final class SpareKeys: Sendable {
    private let empty: KeyHandle?
    private let spare = Mutex<[KeyHandle]>([])

    private static let p256 = SpareKeys(.p256)
    private static let p384 = SpareKeys(.p384)
    private static let p521 = SpareKeys(.p521)
    /// The number of keys in use does not exceed the number of threads for long.
    private static let maximumCount = 16

    private init(_ curve: EllipticCurve) { empty = KeyHandle.empty(on: curve) }

    static func on(_ curve: EllipticCurve) -> SpareKeys {
        switch curve {
        case .p256: p256
        case .p384: p384
        case .p521: p521
        }
    }

    /// A key without any other reference; its present point must not be used.
    fileprivate func take() -> KeyHandle? {
        if let used = spare.withLock({ $0.popLast() }) { return used }
        guard let empty else { return nil }
        return empty.copy()
    }

    /// Takes a key back; the caller keeps no reference to it.
    func giveBack(_ key: KeyHandle) {
        spare.withLock { if $0.count < Self.maximumCount { $0.append(key) } }
    }
}

/// An OpenSSL big number in the locked heap; wiped when it is freed.
@safe final class BigNumber {
    let number: OpaquePointer

    /// Reads a big-endian number.
    init?(_ bytes: Span<UInt8>) {
        SecretHeap.prepare()
        guard let number = unsafe BN_secure_new() else { return nil }
        unsafe self.number = number
        let isRead = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe BN_bin2bn(bytes.baseAddress, Int32(clamping: bytes.count), number) != nil
        }
        guard isRead else { return nil }
    }

    deinit { unsafe BN_clear_free(number) }
}

/// A string that lives as long as the process: OpenSSL keeps only a pointer to it.
func cString(_ text: StaticString) -> UnsafePointer<CChar> {
    unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

extension EllipticCurve {
    var openSSLName: StaticString {
        switch self {
        case .p256: "P-256"
        case .p384: "P-384"
        case .p521: "P-521"
        }
    }

    var openSSLNumber: Int32 {
        switch self {
        case .p256: NID_X9_62_prime256v1
        case .p384: NID_secp384r1
        case .p521: NID_secp521r1
        }
    }
}
