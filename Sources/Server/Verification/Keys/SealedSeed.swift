internal import WatchwordCryptography

/// The stored form of a one-time-password key: the sealed seed, with its parameters bound to it.
struct SealedSeed: Hashable, Sendable {
    /// The parameters for computing the codes of a seed.
    struct Parameters: Hashable, Sendable {
        let algorithm: HashAlgorithm
        let digits: Int
        /// The time step in seconds; `nil` for HOTP.
        let period: Int?

        func write(into writer: inout ByteWriter) {
            writer.write(algorithm.rawValue)
            writer.write(UInt8(digits))
            writer.writeOptional(period) { $0.write(UInt16($1)) }
        }
    }

    let parameters: Parameters
    private let box: [UInt8]

    /// The length of the seed in bytes; a sealed box does not hide this length.
    private var count: Int { box.count - SealingKey.overhead }

    /// Whether the seed has fewer than 128 bits (RFC 4226, section 4, R6).
    var isShort: Bool { count < OneTimePasswordEnrolment.minimumKeyCount }

    init(
        sealing seed: SecretBytes, _ parameters: Parameters, for row: SealingContext,
        under key: KeyVersion
    ) {
        self.parameters = parameters
        let data = Self.associatedData(parameters, row, key.id)
        box = key.sealing.seal(seed, associatedData: data.span)
    }

    /// The seed, if it was sealed for this row under this key.
    func open(for row: SealingContext, under key: KeyVersion) throws(VerifierError) -> SecretBytes {
        let data = Self.associatedData(parameters, row, key.id)
        return try VerifierError.opening(
            key.sealing.open(box.span, associatedData: data.span))
    }

    /// The same seed, sealed under another key.
    func resealed(
        for row: SealingContext, from old: KeyVersion, to new: KeyVersion
    ) throws(VerifierError) -> SealedSeed {
        let seed = try open(for: row, under: old)
        return SealedSeed(sealing: seed, parameters, for: row, under: new)
    }

    private static func associatedData(
        _ parameters: Parameters, _ row: SealingContext, _ key: KeyID
    ) -> [UInt8] {
        var writer = row.associatedData(for: "watchword seed", under: key)
        parameters.write(into: &writer)
        return writer.bytes
    }

    func write(into writer: inout ByteWriter) {
        parameters.write(into: &writer)
        writer.write(box)
    }

    init(from reader: inout ByteReader) throws(VerifierError) {
        let algorithm: HashAlgorithm = try reader.readChoice()
        let digits = Int(try reader.read(UInt8.self))
        let period = try reader.readFlag() ? Int(reader.read(UInt16.self)) : nil
        guard (6...8).contains(digits), period.map({ (1...120).contains($0) }) ?? true else {
            throw .damagedRow
        }
        parameters = Parameters(algorithm: algorithm, digits: digits, period: period)
        box = try reader.readBytes()
    }
}

/// The row for which data is sealed.
///
/// The data cannot be opened for a different row.
package struct SealingContext: Sendable {
    let id: CredentialID
    let subject: Subject
    let kind: CredentialKind

    func associatedData(for purpose: String, under key: KeyID) -> ByteWriter {
        var writer = ByteWriter()
        writer.write(purpose)
        writer.write(id.bytes)
        writer.write(subject.utf8)
        writer.write(kind.rawValue)
        writer.write(key.number)
        return writer
    }
}

extension CredentialRecord {
    package var place: SealingContext { SealingContext(id: id, subject: subject, kind: kind) }
}

/// Data of one row that is not secret, but can be made only with the key file.
///
/// An attacker who can write to the database can neither put a different public key into a row nor
/// copy a key from another row (NIST SP 800-63B-4, section 3.1.6.2).
struct SealedRowData: Hashable, Sendable {
    private let bytes: [UInt8]

    /// - Parameter purpose: the kind of data; sealed data opens only for the same purpose.
    init(
        sealing data: [UInt8], as purpose: String, for row: SealingContext, under key: KeyVersion
    ) {
        let associated = row.associatedData(for: purpose, under: key.id).bytes
        bytes = key.sealing.seal(data.span, associatedData: associated.span)
    }

    /// The data, if it was sealed for this row under this key.
    func open(
        as purpose: String, for row: SealingContext, under key: KeyVersion
    ) throws(VerifierError) -> [UInt8] {
        let associated = row.associatedData(for: purpose, under: key.id).bytes
        return try VerifierError.opening(
            key.sealing.open(bytes.span, associatedData: associated.span)
        ).withBytes { [UInt8](copying: $0) }
    }

    /// The same data, sealed under another key.
    func resealed(
        as purpose: String, for row: SealingContext, from old: KeyVersion, to new: KeyVersion
    ) throws(VerifierError) -> SealedRowData {
        let data = try open(as: purpose, for: row, under: old)
        return SealedRowData(sealing: data, as: purpose, for: row, under: new)
    }

    func write(into writer: inout ByteWriter) { writer.write(bytes) }

    init(from reader: inout ByteReader) throws(VerifierError) { bytes = try reader.readBytes() }
}
