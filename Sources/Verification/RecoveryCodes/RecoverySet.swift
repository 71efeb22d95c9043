internal import Cryptography

/// The stored form of a set of recovery codes.
///
/// Each code is hashed with scrypt and the set's salt (NIST SP 800-63B-4, section 3.1.2.2), so that
/// one hash is enough to look up a code in the whole set. The hashes are sealed like seeds rather
/// than keyed with a pepper, so that a key rotation includes them. The hash of a spent code is
/// deleted.
struct RecoverySet: Hashable, Sendable {
    /// 16 random bytes.
    let salt: [UInt8]
    /// The binary logarithm of scrypt's N.
    let logN: Int
    /// The number of codes left.
    let remaining: Int
    private let box: [UInt8]

    /// The number of bytes in a salt.
    static let saltCount = 16
    /// The number of bytes in a hash.
    static let hashCount = 32
    /// 1 MiB and about 3 ms: 80 random bits need no more, and a higher cost would make overloading
    /// the server easier.
    static let logN = 10

    init(
        sealing hashes: [SecretBytes], salt: [UInt8], logN: Int, for row: SealingContext,
        under key: KeyVersion
    ) throws(CryptographyFailure) {
        self.salt = salt
        self.logN = logN
        remaining = hashes.count
        let joined = SecretBytes(capacity: hashes.count * Self.hashCount) { output in
            for hash in hashes {
                hash.withBytes { output.append(copying: $0) }
            }
        }
        let data = Self.associatedData(salt, logN, hashes.count, row, key.id)
        box = try key.sealing.seal(joined, associatedData: data.span)
    }

    /// The hashes of the codes that are left.
    func open(for row: SealingContext, under key: KeyVersion) throws(VerifierError) -> [SecretBytes]
    {
        let data = Self.associatedData(salt, logN, remaining, row, key.id)
        let joined: SecretBytes
        do throws(CryptographyError) {
            joined = try key.sealing.open(box.span, associatedData: data.span)
        } catch { throw VerifierError(error) }
        guard joined.count == remaining * Self.hashCount else { throw .damagedRow }
        return joined.withBytes { joined in
            (0..<remaining).map { index in
                let start = index * Self.hashCount
                return SecretBytes(
                    copying: joined.extracting(start..<(start + Self.hashCount)))
            }
        }
    }

    private static func associatedData(
        _ salt: [UInt8], _ logN: Int, _ remaining: Int, _ row: SealingContext, _ key: KeyID
    ) -> [UInt8] {
        var writer = row.associatedData(for: "watchword recovery codes", under: key)
        writer.write(salt)
        writer.write(UInt8(logN))
        writer.write(UInt8(remaining))
        return writer.bytes
    }

    func write(into writer: inout ByteWriter) {
        writer.write(salt)
        writer.write(UInt8(logN))
        writer.write(UInt8(remaining))
        writer.write(box)
    }

    init(from reader: inout ByteReader) throws(ByteReaderError) {
        salt = try reader.readBytes()
        logN = Int(try reader.read(UInt8.self))
        remaining = Int(try reader.read(UInt8.self))
        // Limit the cost (`logN`) before any hash is computed.
        guard salt.count == Self.saltCount, (10...14).contains(logN),
            remaining <= RecoveryCode.codesPerSet
        else { throw .malformed }
        box = try reader.readBytes()
    }
}
