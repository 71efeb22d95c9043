public import Verification
public import WatchwordCryptography

/// A credential's public key in the form of COSE (RFC 9053; WebAuthn Level 3, section 5.8.5).
public enum COSEKey {
    /// Reads the encoding of a key, and checks the key.
    ///
    /// - Throws: ``DenialReason/authenticatorData``, ``DenialReason/algorithm`` or
    ///   ``DenialReason/publicKey``.
    public static func read(_ encoded: [UInt8]) throws(DenialReason) -> VerificationKey {
        try read(item(encoded))
    }

    /// Reads the encoding of a key that was checked before, and that nobody could change since.
    ///
    /// - Throws: as ``read(_:)``.
    public static func read(
        alreadyChecked encoded: [UInt8]
    ) throws(DenialReason) -> VerificationKey {
        let (publicKey, algorithm) = try values(item(encoded))
        do {
            return try VerificationKey(alreadyChecked: publicKey, algorithm: algorithm)
        } catch {
            throw .publicKey
        }
    }

    /// Reads a key, which must have exactly the parameters of its type, and checks it.
    static func read(_ item: CBORValue) throws(DenialReason) -> VerificationKey {
        let (publicKey, algorithm) = try values(item)
        do {
            return try VerificationKey(publicKey, algorithm: algorithm)
        } catch {
            throw .publicKey
        }
    }

    private static func item(_ encoded: [UInt8]) throws(DenialReason) -> CBORValue {
        do { return try readCBOR(encoded, keyOrder: .canonical) } catch { throw .authenticatorData }
    }

    private static func values(
        _ item: CBORValue
    ) throws(DenialReason) -> (PublicKey, SignatureAlgorithm) {
        guard let map = item.members, let type = map[1]?.integer, let number = map[3]?.integer
        else { throw .authenticatorData }
        guard let algorithm = SignatureAlgorithm(rawValue: number) else { throw .algorithm }
        let publicKey =
            switch algorithm {
            case .es256, .es384, .es512: try pointOnCurve(map, type, algorithm)
            case .rs256: try rsaKey(map, type)
            case .ed25519: try edwardsPoint(map, type)
            }
        return (publicKey, algorithm)
    }

    private static func pointOnCurve(
        _ map: CBORMap, _ type: Int64, _ algorithm: SignatureAlgorithm
    ) throws(DenialReason) -> PublicKey {
        guard type == 2, let curve = algorithm.curve else { throw .publicKey }
        guard map.hasExactly([1, 3, -1, -2, -3]) else { throw .authenticatorData }
        guard map[-1]?.integer == curve.number, let x = map[-2]?.byteString,
            let y = map[-3]?.byteString, x.count == curve.coordinateCount,
            y.count == curve.coordinateCount
        else { throw .publicKey }
        return .ellipticCurve(curve, point: [4] + x + y)
    }

    private static func rsaKey(
        _ map: CBORMap, _ type: Int64
    ) throws(DenialReason) -> PublicKey {
        guard type == 3 else { throw .publicKey }
        guard map.hasExactly([1, 3, -1, -2]) else { throw .authenticatorData }
        guard let modulus = map[-1]?.byteString, let exponent = map[-2]?.byteString else {
            throw .publicKey
        }
        return .rsa(modulus: modulus, exponent: exponent)
    }

    private static func edwardsPoint(
        _ map: CBORMap, _ type: Int64
    ) throws(DenialReason) -> PublicKey {
        guard type == 1 else { throw .publicKey }
        guard map.hasExactly([1, 3, -1, -2]) else { throw .authenticatorData }
        // 6 is Ed25519, and 7 is Ed448.
        guard map[-1]?.integer == 6, let point = map[-2]?.byteString else { throw .publicKey }
        return .ed25519(point)
    }
}

extension EllipticCurve {
    /// The curve's number in COSE (RFC 9053, section 7.1).
    fileprivate var number: Int64 {
        switch self {
        case .p256: 1
        case .p384: 2
        case .p521: 3
        }
    }
}
