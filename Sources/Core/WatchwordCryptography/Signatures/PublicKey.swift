internal import COpenSSL

/// A curve for elliptic-curve signatures (FIPS 186-5).
public enum EllipticCurve: CaseIterable, Hashable, Sendable {
    case p256
    case p384
    case p521

    /// The length of a coordinate in bytes.
    public var coordinateCount: Int {
        switch self {
        case .p256: 32
        case .p384: 48
        case .p521: 66
        }
    }

    /// The length of a point in its uncompressed form, which begins with a byte 4.
    public var pointCount: Int { 1 + 2 * coordinateCount }
}

/// The values of a public key.
///
/// They are not necessarily valid: ``VerificationKey`` checks them.
public enum PublicKey: Hashable, Sendable {
    /// A point in the form of SEC 1, section 2.3.3.
    case ellipticCurve(EllipticCurve, point: [UInt8])
    /// Two numbers, big-endian and without leading zeros.
    case rsa(modulus: [UInt8], exponent: [UInt8])
    /// A point in the form of RFC 8032, section 5.1.2.
    case ed25519([UInt8])
}

/// A signature algorithm, with its number in COSE (RFC 9053, RFC 8812).
///
/// The numbers −7, −35 and −36 do not determine the curve; WebAuthn Level 3, section 5.8.5 does.
public enum SignatureAlgorithm: Int64, CaseIterable, Hashable, Sendable {
    /// ECDSA on P-256 with SHA-256.
    case es256 = -7
    /// EdDSA on edwards25519.
    case ed25519 = -8
    /// ECDSA on P-384 with SHA-384.
    case es384 = -35
    /// ECDSA on P-521 with SHA-512.
    case es512 = -36
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = -257

    /// The curve of an elliptic-curve algorithm.
    public var curve: EllipticCurve? {
        switch self {
        case .es256: .p256
        case .es384: .p384
        case .es512: .p521
        case .ed25519, .rs256: nil
        }
    }
}

extension PublicKey {
    /// Checks the key, and loads it into OpenSSL.
    func checked() throws(CryptographyError) -> KeyHandle {
        defer { ERR_clear_error() }
        let made = try loaded()
        switch self {
        case .ellipticCurve: break
        case .rsa(let modulus, _): if Self.isPrime(modulus) { throw .primeModulus }
        case .ed25519(let point):
            // OpenSSL's check does not look at the point.
            guard isOnEdwards25519(point) else { throw .invalidKey }
        }
        guard passesPublicCheck(made) else { throw .invalidKey }
        return made
    }

    /// Loads the key into OpenSSL, after the checks that cost next to nothing: lengths and, on a
    /// curve, the equation.
    func loaded() throws(CryptographyError) -> KeyHandle {
        // Our error states what is wrong; do not let OpenSSL's error queue grow.
        defer { ERR_clear_error() }
        let made: KeyHandle?
        switch self {
        case .ellipticCurve(let curve, let point):
            // OpenSSL also accepts infinity and the compressed and hybrid forms.
            guard point.count == curve.pointCount, point[0] == 4 else { throw .pointForm }
            made = KeyHandle.ellipticCurve(curve, point: point.span)
        case .rsa(let modulus, let exponent):
            try Self.checkRSA(modulus: modulus, exponent: exponent)
            made = KeyHandle.rsa(modulus: modulus.span, exponent: exponent.span)
        case .ed25519(let point):
            guard point.count == 32 else { throw .pointForm }
            guard !isOfSmallOrder(point) else { throw .smallOrder }
            guard isCanonical(point) else { throw .pointForm }
            made = KeyHandle.ed25519(point.span)
        }
        guard let made else { throw .invalidKey }
        return made
    }

    // With e = 1, a signature can be made without any private key. OpenSSL does not verify with an
    // exponent of more than 64 bits if the modulus has more than 3,072.
    private static func checkRSA(
        modulus: [UInt8], exponent: [UInt8]
    ) throws(CryptographyError) {
        guard (256...512).contains(modulus.count), let first = modulus.first, first != 0,
            modulus.count > 256 || first >= 0x80
        else { throw .modulus }
        guard (3...8).contains(exponent.count), let first = exponent.first, first != 0,
            let last = exponent.last, last & 1 == 1
        else { throw .exponent }
    }

    /// Whether the number is almost certainly prime (Fermat's test to base 2).
    ///
    /// OpenSSL's check runs one primality test on a composite number, but several on a prime, which
    /// take five times as long: the holder of a ticket could keep the server busy.
    private static func isPrime(_ number: [UInt8]) -> Bool {
        guard let context = unsafe BN_CTX_new() else { return false }
        defer { unsafe BN_CTX_free(context) }
        guard let number = PublicNumber(number.span), let less = PublicNumber(copying: number),
            let two = PublicNumber([2].span), let power = PublicNumber([0].span)
        else { return false }
        guard unsafe BN_sub_word(less.number, 1) == 1,
            unsafe BN_mod_exp(power.number, two.number, less.number, number.number, context) == 1
        else { return false }
        return unsafe BN_is_one(power.number) == 1
    }

    private func passesPublicCheck(_ handle: KeyHandle) -> Bool {
        unsafe handle.withKey { key in
            guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else {
                return false
            }
            defer { unsafe EVP_PKEY_CTX_free(context) }
            guard case .ellipticCurve = self else {
                return unsafe EVP_PKEY_public_check(context) == 1
            }
            // The full check also multiplies the point by the curve's order. That is redundant
            // here: the order of these curves is prime, so it is also the order of each point
            // except infinity.
            return unsafe EVP_PKEY_public_check_quick(context) == 1
        }
    }
}

/// An OpenSSL big number that is not secret.
@safe private final class PublicNumber {
    let number: OpaquePointer

    /// Reads a big-endian number.
    init?(_ bytes: Span<UInt8>) {
        let read = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe BN_bin2bn(bytes.baseAddress, Int32(clamping: bytes.count), nil)
        }
        guard let read = unsafe read else { return nil }
        unsafe number = read
    }

    init?(copying other: PublicNumber) {
        guard let copy = unsafe BN_dup(other.number) else { return nil }
        unsafe number = copy
    }

    deinit { unsafe BN_free(number) }
}

/// Whether the y-coordinate of an encoded point is less than p = 2^255 − 19 (RFC 8032, section
/// 5.1.3).
///
/// Only a y-coordinate of 0 to 18 has a second encoding. (If x is 0, its sign also has two
/// encodings; these points are of small order.)
private func isCanonical(_ point: [UInt8]) -> Bool {
    point[0] < 0xed || point[31] & 0x7f != 0x7f || point[1..<31].contains { $0 != 0xff }
}

/// Whether an encoded point of edwards25519 decodes: whether x² = (y² − 1) / (d·y² + 1) has a
/// solution modulo p (RFC 8032, section 5.1.3).
private func isOnEdwards25519(_ point: [UInt8]) -> Bool {
    var encoded = point
    encoded[31] &= 0x7f
    encoded.reverse()
    guard let context = unsafe BN_CTX_new() else { return false }
    defer { unsafe BN_CTX_free(context) }
    guard let y = PublicNumber(encoded.span), let prime = PublicNumber(edwards25519.prime.span),
        let d = PublicNumber(edwards25519.d.span), let one = PublicNumber([1].span),
        let square = PublicNumber([0].span), let numerator = PublicNumber([0].span),
        let denominator = PublicNumber([0].span), let product = PublicNumber([0].span)
    else { return false }
    let (p, u, v) = unsafe (prime.number, numerator.number, denominator.number)
    guard unsafe BN_mod_sqr(square.number, y.number, p, context) == 1,
        unsafe BN_mod_sub(u, square.number, one.number, p, context) == 1,
        unsafe BN_mod_mul(v, d.number, square.number, p, context) == 1,
        unsafe BN_mod_add(v, v, one.number, p, context) == 1,
        unsafe BN_mod_mul(product.number, u, v, p, context) == 1
    else { return false }
    // v is never 0, because −1/d has no square root. So u/v has a square root if and only if u·v
    // has one.
    let symbol = unsafe BN_kronecker(product.number, p, context)
    return symbol == 0 || symbol == 1
}

/// The constants of edwards25519 (RFC 8032, section 5.1), big-endian.
private let edwards25519: (prime: [UInt8], d: [UInt8]) = (
    [0x7f] + [UInt8](repeating: 0xff, count: 30) + [0xed],
    [
        0x52, 0x03, 0x6c, 0xee, 0x2b, 0x6f, 0xfe, 0x73, 0x8c, 0xc7, 0x40, 0x79, 0x77, 0x79, 0xe8,
        0x98, 0x00, 0x70, 0x0a, 0x4d, 0x41, 0x41, 0xd8, 0xab, 0x75, 0xeb, 0x4d, 0xca, 0x13, 0x59,
        0x78, 0xa3,
    ]
)

/// Whether a point of edwards25519 is one of the eight whose order divides 8.
///
/// OpenSSL accepts such keys. The list has each y-coordinate in every encoding; the sign of x is
/// the highest bit.
private func isOfSmallOrder(_ point: [UInt8]) -> Bool {
    var y = point
    y[31] &= 0x7f
    return smallOrders.contains(y)
}

private let smallOrders: [[UInt8]] = [
    // 0, 1 and −1.
    [UInt8](repeating: 0, count: 32),
    [1] + [UInt8](repeating: 0, count: 31),
    [0xec] + [UInt8](repeating: 0xff, count: 30) + [0x7f],
    // p and p + 1, which stand for 0 and 1.
    [0xed] + [UInt8](repeating: 0xff, count: 30) + [0x7f],
    [0xee] + [UInt8](repeating: 0xff, count: 30) + [0x7f],
    // The points of order 8.
    [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98,
        0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53,
        0xfc, 0x05,
    ],
    [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67,
        0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac,
        0x03, 0x7a,
    ],
]
