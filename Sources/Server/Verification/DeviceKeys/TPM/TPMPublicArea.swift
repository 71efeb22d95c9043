public import WatchwordCryptography
package import WatchwordSystem

/// The public area of a key in a TPM (`TPMT_PUBLIC`; TPM 2.0 Library, Part 2, section 12.2.4).
public struct TPMPublicArea: Sendable {
    /// The encoded structure.
    public let encoded: [UInt8]
    /// The permitted uses of the key.
    public let attributes: TPMAttributes
    /// The digest of the policy that must be satisfied to use the key; empty if there is none.
    public let policy: [UInt8]
    /// The public key, RSA or elliptic-curve.
    public let publicKey: PublicKey
    /// The scheme and hash function to which the key is bound; `nil` if the key is not bound.
    public let scheme: Scheme?
    private let nameHash: NameHash

    /// A scheme and its hash function, by their TCG algorithm identifiers.
    public struct Scheme: Hashable, Sendable {
        /// ECDSA with SHA-256 (`TPM_ALG_ECDSA`, `TPM_ALG_SHA256`).
        public static let ecdsaSHA256 = Scheme(algorithm: 0x0018, hash: 0x000b)

        /// The algorithm identifier of the scheme (`TPM_ALG_ID`).
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

    /// The key's Name, which is unique: the hash function and the digest of the public area.
    public func name() -> [UInt8] {
        let digest =
            switch nameHash {
            case .sha256: sha256(encoded.span)
            case .sha384: sha384(encoded.span)
            case .sha512: sha512(encoded.span)
            }
        return [0, UInt8(nameHash.rawValue)] + digest
    }

    /// Reads `TPMS_RSA_PARMS` and the modulus.
    private static func readRSA(
        _ fields: inout BinaryFields
    ) throws -> (PublicKey, Scheme?) {
        try skipSymmetric(&fields)
        let scheme = try readScheme(&fields, withoutHash: [0x0015])
        let bits = Int(try fields.number(2))
        let exponent = UInt32(try fields.number(4))
        let modulus = try fields.sized()
        guard modulus.count * 8 == bits else { throw VerifierError.attestation(.malformed) }
        // The exponent 0 stands for 2^16 + 1.
        let written = exponent == 0 ? 65_537 : exponent
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: written >> UInt32(24 - 8 * $0)) }
        return (.rsa(modulus: modulus, exponent: Array(bytes.drop { $0 == 0 })), scheme)
    }

    /// Reads `TPMS_ECC_PARMS` and the point.
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

    /// A TPM may omit leading zeros.
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
        // ECDAA also has a counter after the hash function.
        guard algorithm != 0x001a else { throw VerifierError.attestation(.malformed) }
        let hash = withoutHash.contains(algorithm) ? 0 : try fields.number(2)
        return Scheme(algorithm: UInt16(algorithm), hash: UInt16(hash))
    }
}

/// The permitted uses of a key in a TPM (`TPMA_OBJECT`).
public struct TPMAttributes: OptionSet, Hashable, Sendable {
    /// The bits of `TPMA_OBJECT`.
    public let rawValue: UInt32

    /// Takes the bits of `TPMA_OBJECT`.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The key cannot leave the TPM by itself.
    public static let fixedTPM = TPMAttributes(rawValue: 1 << 1)
    /// The key cannot be moved to another parent.
    public static let fixedParent = TPMAttributes(rawValue: 1 << 4)
    /// The TPM generated the key.
    public static let sensitiveDataOrigin = TPMAttributes(rawValue: 1 << 5)
    /// The key can be used with its authorization value.
    public static let userWithAuth = TPMAttributes(rawValue: 1 << 6)
    /// Administrative commands need the policy.
    public static let adminWithPolicy = TPMAttributes(rawValue: 1 << 7)
    /// Wrong authorization values do not count towards a lock-out.
    public static let noDA = TPMAttributes(rawValue: 1 << 10)
    /// The key signs or decrypts only data that the TPM generated.
    public static let restricted = TPMAttributes(rawValue: 1 << 16)
    /// The key may decrypt.
    public static let decrypt = TPMAttributes(rawValue: 1 << 17)
    /// The key may sign.
    public static let sign = TPMAttributes(rawValue: 1 << 18)
}

/// A TPM's statement that it holds a key (`TPMS_ATTEST` of `TPM2_Certify`; TPM 2.0 Library, Part 2,
/// section 10.12.8).
public struct TPMCertification: Sendable {
    /// The data that the caller passed to the TPM (`extraData`).
    public let qualifyingData: [UInt8]
    /// The Name of the certified key.
    public let name: [UInt8]

    /// `TPM_GENERATED_VALUE`: a TPM made the statement.
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
            // The qualified Name of the signer.
            _ = try fields.sized()
            qualifyingData = try fields.sized()
            // The clock, the numbers of resets and restarts, whether the clock is safe, and the
            // firmware version.
            _ = try fields.take(8 + 4 + 4 + 1 + 8)
            name = try fields.sized()
            // The qualified Name of the certified key.
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

    /// The number of bytes that were read.
    package var position: Int { fields.position }

    /// Reads a number of `width` bytes.
    package mutating func number(_ width: Int) throws(Unreadable) -> UInt64 {
        let bytes = bytes
        return try fields.number(bytes.span, width: width)
    }

    package mutating func take(_ count: Int) throws(Unreadable) -> [UInt8] {
        let bytes = bytes
        return Array(bytes[try fields.take(count, of: bytes.span)])
    }

    /// Reads a two-byte length, and as many bytes (`TPM2B`).
    package mutating func sized() throws(Unreadable) -> [UInt8] {
        let count = Int(try number(2))
        return try take(count)
    }

    /// Verifies that no bytes are left.
    func finish() throws(Unreadable) { try fields.finish(bytes.span) }
}
