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
