internal import WatchwordCryptography

/// Data of one row that can be made only with the key file, although it is not secret.
///
/// An attacker who can write to the database can neither put another public key into a row nor copy
/// it from another row (NIST SP 800-63B-4, section 3.1.6.2).
struct SealedBox: Hashable, Sendable {
    private let bytes: [UInt8]

    /// - Parameter purpose: names the kind of data, so that it opens as no other kind.
    init(
        sealing data: [UInt8], as purpose: String, for row: SealingContext, under key: KeyVersion
    ) {
        let associated = row.associatedData(for: purpose, under: key.id).bytes
        bytes = key.sealing.seal(data.span, associatedData: associated.span)
    }

    /// The data, if this is the row and the key that it was sealed for.
    func open(
        as purpose: String, for row: SealingContext, under key: KeyVersion
    ) throws(VerifierError) -> [UInt8] {
        let associated = row.associatedData(for: purpose, under: key.id).bytes
        do throws(CryptographyError) {
            return try key.sealing.open(bytes.span, associatedData: associated.span)
                .withBytes { [UInt8](copying: $0) }
        } catch { throw VerifierError(error) }
    }

    /// The same data, sealed under another key.
    func resealed(
        as purpose: String, for row: SealingContext, from old: KeyVersion, to new: KeyVersion
    ) throws(VerifierError) -> SealedBox {
        let data = try open(as: purpose, for: row, under: old)
        return SealedBox(sealing: data, as: purpose, for: row, under: new)
    }

    func write(into writer: inout ByteWriter) { writer.write(bytes) }

    init(from reader: inout ByteReader) throws(ByteReaderError) { bytes = try reader.readBytes() }
}
