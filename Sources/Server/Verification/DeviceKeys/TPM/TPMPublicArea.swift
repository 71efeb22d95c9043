public import WatchwordCryptography
package import WatchwordSystem

/// The public area of a key in a TPM (`TPMT_PUBLIC`; TPM 2.0 Library, Part 2, section 12.2.4).
public struct TPMPublicArea: Sendable {
    /// The structure.
    public let encoded: [UInt8]
    /// What the key may be used for.
    public let attributes: TPMAttributes
    /// The digest of the policy that must be satisfied; empty if there is none.
    public let policy: [UInt8]
    /// The key.
    public let publicKey: PublicKey
    /// The scheme and hash function that the key is bound to; `nil` if it is bound to none.
    public let scheme: Scheme?
    private let nameHash: NameHash

    /// A scheme with its hash function, as the TPM numbers them.
    public struct Scheme: Hashable, Sendable {
        /// ECDSA with SHA-256.
        public static let ecdsaSHA256 = Scheme(algorithm: 0x0018, hash: 0x000b)

        /// The scheme (`TPM_ALG_ID`).
        public let algorithm: UInt16
        /// The hash function (`TPM_ALG_ID`); 0 for a scheme without one.
        public let hash: UInt16
    }

    // SHA-1 is refused.
    private enum NameHash: UInt64 {
        case sha256 = 0x000b
        case sha384 = 0x000c
        case sha512 = 0x000d
    }

    private static let null: UInt64 = 0x0010

    /// Reads a structure that ends where `encoded` ends.
    public init(_ encoded: [UInt8]) throws(VerifierError) {
        self.encoded = encoded
        var fields = BinaryFields(encoded)
        do {
            let type = try fields.number(2)
            guard let hash = NameHash(rawValue: try fields.number(2)) else {
                throw VerifierError.attestation(.malformed)
            }
            nameHash = hash
            attributes = TPMAttributes(rawValue: UInt32(try fields.number(4)))
            policy = try fields.sized()
            switch type {
            case 0x0001: (publicKey, scheme) = try Self.readRSA(&fields)
            case 0x0023: (publicKey, scheme) = try Self.readPoint(&fields)
            default: throw VerifierError.attestation(.malformed)
            }
            try fields.finish()
        } catch {
            throw VerifierError.attestation(.malformed)
        }
    }

    /// The key's Name, which no other public area has: the hash function and the digest.
    public func name() -> [UInt8] {
        let digest =
            switch nameHash {
            case .sha256: sha256(encoded.span)
            case .sha384: sha384(encoded.span)
            case .sha512: sha512(encoded.span)
            }
        return [0, UInt8(nameHash.rawValue)] + digest
    }

    /// `TPMS_RSA_PARMS` and the modulus.
    private static func readRSA(
        _ fields: inout BinaryFields
    ) throws -> (PublicKey, Scheme?) {
        try skipSymmetric(&fields)
        let scheme = try readScheme(&fields, withoutHash: [0x0015])
        let bits = Int(try fields.number(2))
        let exponent = UInt32(try fields.number(4))
        let modulus = try fields.sized()
        guard modulus.count * 8 == bits else { throw VerifierError.attestation(.malformed) }
        // 0 stands for 2^16 + 1.
        let written = exponent == 0 ? 65_537 : exponent
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: written >> UInt32(24 - 8 * $0)) }
        return (.rsa(modulus: modulus, exponent: Array(bytes.drop { $0 == 0 })), scheme)
    }

    /// `TPMS_ECC_PARMS` and the point.
    private static func readPoint(
        _ fields: inout BinaryFields
    ) throws -> (PublicKey, Scheme?) {
        try skipSymmetric(&fields)
        let scheme = try readScheme(&fields, withoutHash: [])
        let curves: [UInt64: EllipticCurve] = [3: .p256, 4: .p384, 5: .p521]
        guard let curve = curves[try fields.number(2)] else {
            throw VerifierError.attestation(.malformed)
        }
        if try fields.number(2) != null { _ = try fields.number(2) }
        let x = try readCoordinate(&fields, curve)
        let y = try readCoordinate(&fields, curve)
        return (.ellipticCurve(curve, point: [4] + x + y), scheme)
    }

    /// A TPM may leave out leading zeros.
    private static func readCoordinate(
        _ fields: inout BinaryFields, _ curve: EllipticCurve
    ) throws -> [UInt8] {
        let bytes = try fields.sized()
        guard bytes.count <= curve.coordinateCount else {
            throw VerifierError.attestation(.malformed)
        }
        return [UInt8](repeating: 0, count: curve.coordinateCount - bytes.count) + bytes
    }

    /// `TPMT_SYM_DEF_OBJECT`: a cipher and, unless it is null, its key length and mode.
    private static func skipSymmetric(_ fields: inout BinaryFields) throws {
        if try fields.number(2) != null { _ = try fields.take(4) }
    }

    private static func readScheme(
        _ fields: inout BinaryFields, withoutHash: Set<UInt64>
    ) throws -> Scheme? {
        let algorithm = try fields.number(2)
        guard algorithm != null else { return nil }
        // ECDAA also has a counter.
        guard algorithm != 0x001a else { throw VerifierError.attestation(.malformed) }
        let hash = withoutHash.contains(algorithm) ? 0 : try fields.number(2)
        return Scheme(algorithm: UInt16(algorithm), hash: UInt16(hash))
    }
}

/// What a key in a TPM may be used for (`TPMA_OBJECT`).
public struct TPMAttributes: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt32

    /// Creates the attributes from their bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The key cannot leave the TPM by itself.
    public static let fixedTPM = TPMAttributes(rawValue: 1 << 1)
    /// The key cannot move to another parent.
    public static let fixedParent = TPMAttributes(rawValue: 1 << 4)
    /// The TPM generated the key.
    public static let sensitiveDataOrigin = TPMAttributes(rawValue: 1 << 5)
    /// The key can be used with its authorization value.
    public static let userWithAuth = TPMAttributes(rawValue: 1 << 6)
    /// Administration needs the policy.
    public static let adminWithPolicy = TPMAttributes(rawValue: 1 << 7)
    /// Wrong authorization values do not count towards a lock-out.
    public static let noDA = TPMAttributes(rawValue: 1 << 10)
    /// The key signs or decrypts only what the TPM made.
    public static let restricted = TPMAttributes(rawValue: 1 << 16)
    /// The key decrypts.
    public static let decrypt = TPMAttributes(rawValue: 1 << 17)
    /// The key signs.
    public static let sign = TPMAttributes(rawValue: 1 << 18)
}

/// A TPM's statement that it holds a key (`TPMS_ATTEST` of `TPM2_Certify`; TPM 2.0 Library, Part 2,
/// section 10.12.8).
public struct TPMCertification: Sendable {
    /// The data that the caller gave to the TPM (`extraData`).
    public let qualifyingData: [UInt8]
    /// The Name of the certified key.
    public let name: [UInt8]

    /// Made by a TPM: `TPM_GENERATED_VALUE`.
    private static let magic: UInt64 = 0xff54_4347
    /// `TPM_ST_ATTEST_CERTIFY`.
    private static let certify: UInt64 = 0x8017

    /// Reads a structure that ends where `encoded` ends.
    public init(_ encoded: [UInt8]) throws(VerifierError) {
        var fields = BinaryFields(encoded)
        do {
            guard try fields.number(4) == Self.magic, try fields.number(2) == Self.certify else {
                throw VerifierError.attestation(.malformed)
            }
            // The signer's qualified Name.
            _ = try fields.sized()
            qualifyingData = try fields.sized()
            // Clock, resets, restarts, whether the clock is safe, and the firmware's version.
            _ = try fields.take(8 + 4 + 4 + 1 + 8)
            name = try fields.sized()
            // The certified key's qualified Name.
            _ = try fields.sized()
            try fields.finish()
        } catch {
            throw VerifierError.attestation(.malformed)
        }
    }
}

/// Reads the fields of a binary structure in order; numbers are big-endian.
package struct BinaryFields {
    package typealias Unreadable = FieldReader.Unreadable

    private let bytes: [UInt8]
    private var fields = FieldReader(.bigEndian)

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// How many bytes were read.
    package var position: Int { fields.position }

    /// Reads a number of `width` bytes.
    package mutating func number(_ width: Int) throws(Unreadable) -> UInt64 {
        let bytes = bytes
        return try fields.number(bytes.span, width: width)
    }

    /// Reads `count` bytes.
    package mutating func take(_ count: Int) throws(Unreadable) -> [UInt8] {
        let bytes = bytes
        return Array(bytes[try fields.take(count, of: bytes.span)])
    }

    /// Reads bytes that follow their length in two bytes (`TPM2B`).
    package mutating func sized() throws(Unreadable) -> [UInt8] {
        let count = Int(try number(2))
        return try take(count)
    }

    /// Verifies that no bytes are left.
    func finish() throws(Unreadable) { try fields.finish(bytes.span) }
}
