public import Verification
public import WatchwordCryptography
internal import WatchwordSystem

/// The data that an authenticator signs in a ceremony (WebAuthn Level 3, section 6.1).
public struct AuthenticatorData: Sendable {
    /// The encoded data, which the signature covers.
    public let encoded: [UInt8]
    /// The SHA-256 digest of the relying party's ID.
    public let relyingPartyHash: [UInt8]
    /// The flags (WebAuthn Level 3, section 6.1).
    public let flags: AuthenticatorFlags
    /// The signature counter; 0 if the authenticator has none.
    public let signatureCount: UInt32

    /// Reads the data of an authentication, which has no attested credential.
    ///
    /// - Throws: ``DenialReason/authenticatorData``.
    public init(assertion encoded: [UInt8]) throws(DenialReason) {
        var fields = BinaryFields(encoded)
        try self.init(encoded, &fields)
        guard !flags.hasCredential else { throw .authenticatorData }
        var reader = try Self.reader(encoded, from: fields.position)
        try Self.readEnd(flags, &reader)
    }

    /// Reads the fields that each ceremony has.
    fileprivate init(
        _ encoded: [UInt8], _ fields: inout BinaryFields
    ) throws(DenialReason) {
        self.encoded = encoded
        let malformed = DenialReason.authenticatorData
        relyingPartyHash = try replacingErrors(of: fields.take(32), with: malformed)
        flags = AuthenticatorFlags(
            UInt8(try replacingErrors(of: fields.number(1), with: malformed)))
        signatureCount = UInt32(try replacingErrors(of: fields.number(4), with: malformed))
    }

    fileprivate static func reader(
        _ encoded: [UInt8], from position: Int
    ) throws(DenialReason) -> CBORReader {
        try replacingErrors(
            of: CBORReader(encoded, from: position), with: DenialReason.authenticatorData)
    }

    /// Reads the extension outputs, a map that is present if and only if its flag is set.
    fileprivate static func readEnd(
        _ flags: AuthenticatorFlags, _ reader: inout CBORReader
    ) throws(DenialReason) {
        let malformed = DenialReason.authenticatorData
        if flags.hasExtensions {
            let extensions = try replacingErrors(
                of: reader.next(keyOrder: .canonical), with: malformed)
            guard extensions.members != nil else { throw malformed }
        }
        try replacingErrors(of: reader.finish(), with: malformed)
    }

    /// Why the relying party's ID or the flags do not permit the ceremony; `nil` if they do.
    ///
    /// - Parameter relyingPartyHash: The SHA-256 digest of the expected ID.
    public func denial(
        relyingPartyHash expected: [UInt8], requiresUserVerification: Bool
    ) -> DenialReason? {
        guard relyingPartyHash == expected else { return .relyingParty }
        guard flags.isUserPresent else { return .userPresence }
        guard flags.isUserVerified || !requiresUserVerification else { return .userVerification }
        guard flags.isBackupEligible || !flags.isBackedUp else { return .backupFlags }
        return nil
    }

    /// Whether the owner of `key` signed this data and the client data with the digest
    /// `clientDataHash`.
    public func isSigned(
        _ signature: [UInt8], by key: VerificationKey, clientDataHash: [UInt8]
    ) throws(CryptographyFailure) -> Bool {
        let message = encoded + clientDataHash
        return try key.isValid(signature.span, of: message.span)
    }
}

/// The data with which an authenticator registers a credential.
public struct RegistrationData: Sendable {
    /// The fields that authentications have too.
    public let data: AuthenticatorData
    /// The AAGUID, which identifies the authenticator's model; without a certificate, the AAGUID is
    /// only a claim.
    public let model: [UInt8]
    /// The credential's id: 1 to 1,023 bytes.
    public let credentialID: [UInt8]
    /// The credential's public key.
    public let key: VerificationKey
    /// The public key, encoded as a COSE key.
    public let encodedKey: [UInt8]

    /// Reads the data, which has an attested credential.
    ///
    /// - Throws: ``DenialReason/authenticatorData``, ``DenialReason/algorithm``,
    ///   ``DenialReason/publicKey`` or ``DenialReason/credentialID``.
    public init(_ encoded: [UInt8]) throws(DenialReason) {
        var fields = BinaryFields(encoded)
        data = try AuthenticatorData(encoded, &fields)
        guard data.flags.hasCredential else { throw .authenticatorData }
        let malformed = DenialReason.authenticatorData
        model = try replacingErrors(of: fields.take(16), with: malformed)
        credentialID = try replacingErrors(of: fields.sized(), with: malformed)
        var reader = try AuthenticatorData.reader(encoded, from: fields.position)
        let item = try replacingErrors(of: reader.next(keyOrder: .canonical), with: malformed)
        encodedKey = Array(encoded[fields.position..<reader.position])
        try AuthenticatorData.readEnd(data.flags, &reader)
        key = try COSEKey.read(item)
        guard (1...1023).contains(credentialID.count) else { throw .credentialID }
    }
}

/// The flags of authenticator data (WebAuthn Level 3, section 6.1).
///
/// Reserved bits are ignored.
public struct AuthenticatorFlags: Hashable, Sendable {
    /// A user is present (UP).
    public let isUserPresent: Bool
    /// The user was verified (UV).
    public let isUserVerified: Bool
    /// The credential may be backed up (BE).
    public let isBackupEligible: Bool
    /// The credential is backed up (BS).
    public let isBackedUp: Bool
    /// The data has an attested credential (AT).
    public let hasCredential: Bool
    /// The data has extension outputs (ED).
    public let hasExtensions: Bool

    /// Reads the flags from their byte in the authenticator data.
    public init(_ byte: UInt8) {
        isUserPresent = byte & 0x01 != 0
        isUserVerified = byte & 0x04 != 0
        isBackupEligible = byte & 0x08 != 0
        isBackedUp = byte & 0x10 != 0
        hasCredential = byte & 0x40 != 0
        hasExtensions = byte & 0x80 != 0
    }
}

/// A credential's public key in the form of COSE (RFC 9053; WebAuthn Level 3, section 5.8.5).
public enum COSEKey {
    /// Reads an encoded key, and checks the key.
    ///
    /// - Throws: ``DenialReason/authenticatorData``, ``DenialReason/algorithm`` or
    ///   ``DenialReason/publicKey``.
    public static func read(_ encoded: [UInt8]) throws(DenialReason) -> VerificationKey {
        try read(item(encoded))
    }

    /// Reads an encoded key that was checked before and cannot have changed since.
    ///
    /// - Throws: the errors of ``read(_:)``.
    public static func read(
        alreadyChecked encoded: [UInt8]
    ) throws(DenialReason) -> VerificationKey {
        let (publicKey, algorithm) = try values(item(encoded))
        return try replacingErrors(
            of: VerificationKey(alreadyChecked: publicKey, algorithm: algorithm),
            with: DenialReason.publicKey)
    }

    /// Reads a key, which must have exactly the parameters of its type, and checks the key.
    static func read(_ item: CBORValue) throws(DenialReason) -> VerificationKey {
        let (publicKey, algorithm) = try values(item)
        return try replacingErrors(
            of: VerificationKey(publicKey, algorithm: algorithm), with: DenialReason.publicKey)
    }

    private static func item(_ encoded: [UInt8]) throws(DenialReason) -> CBORValue {
        try replacingErrors(
            of: readCBOR(encoded, keyOrder: .canonical), with: DenialReason.authenticatorData)
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
