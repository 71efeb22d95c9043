internal import WatchwordCryptography

/// The stored form of a one-time-password key: the sealed seed, with its parameters bound to it.
struct SealedSeed: Hashable, Sendable {
    /// What the codes of a seed are computed with.
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

    /// The length of the seed in bytes; a box does not hide it.
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

    /// The seed, if this is the row and the key that it was sealed for.
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

/// The row that data is sealed for.
///
/// The data cannot be opened in any other row.
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

/// Data of one row that can be made only with the key file, although it is not secret.
///
/// An attacker who can write to the database can neither put another public key into a row nor copy
/// it from another row (NIST SP 800-63B-4, section 3.1.6.2).
struct SealedRowData: Hashable, Sendable {
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
