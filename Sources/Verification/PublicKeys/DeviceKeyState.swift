internal import Cryptography

/// Where a device keeps its key.
///
/// None of these says that a person was there.
public enum KeyCustody: String, CaseIterable, Hashable, Sendable {
    /// In a vault: as easy to copy as the open vault.
    case vault
    /// In a TPM, as the device says; no policy relies on it.
    case tpm
    /// In a TPM whose maker the server trusts, as the server checked.
    case attestedTPM = "tpm-attested"
}

/// A device's public key, with what is known about its place.
struct RegisteredDeviceKey: Hashable, Sendable {
    /// The point on P-256 in its uncompressed form: 65 bytes.
    let point: [UInt8]
    /// Where the device keeps the private key.
    let custody: KeyCustody
    /// SHA-256 of the public area of the TPM's attestation key; `nil` unless the TPM was attested.
    let attestationKeyDigest: [UInt8]?
    /// SHA-256 of the public area of the TPM's endorsement key; `nil` unless the TPM was attested.
    let endorsementKeyDigest: [UInt8]?

    /// The length of a point in bytes.
    static let pointCount = 65
}

/// The stored state of a device key, which stays when the credential is revoked, so that only the
/// key's holder learns of it.
struct DeviceKeyState: Hashable, Sendable {
    private var registration: SealedBox

    private static let purpose = "watchword device key"

    init(
        sealing key: RegisteredDeviceKey, for row: SealingContext, under version: KeyVersion
    ) throws(CryptographyFailure) {
        var writer = ByteWriter()
        writer.write(key.point)
        writer.write(key.custody.rawValue)
        writer.writeOptional(key.attestationKeyDigest) { $0.write($1) }
        writer.writeOptional(key.endorsementKeyDigest) { $0.write($1) }
        registration = try SealedBox(
            sealing: writer.bytes, as: Self.purpose, for: row, under: version)
    }

    /// The key, if this is the row and the version that it was sealed for.
    func open(
        for row: SealingContext, under version: KeyVersion
    ) throws(VerifierError) -> RegisteredDeviceKey {
        var reader = ByteReader(
            try registration.open(as: Self.purpose, for: row, under: version))
        do throws(ByteReaderError) {
            let key = RegisteredDeviceKey(
                point: try reader.readBytes(), custody: try reader.readChoice(),
                attestationKeyDigest: try reader.readOptionalBytes(),
                endorsementKeyDigest: try reader.readOptionalBytes())
            try reader.end()
            guard key.point.count == RegisteredDeviceKey.pointCount else { throw .malformed }
            return key
        } catch { throw .damagedRow }
    }

    /// The same key, sealed under another version.
    func resealed(
        for row: SealingContext, from old: KeyVersion, to new: KeyVersion
    ) throws(VerifierError) -> DeviceKeyState {
        var state = self
        state.registration = try registration.resealed(
            as: Self.purpose, for: row, from: old, to: new)
        return state
    }

    func write(into writer: inout ByteWriter) { registration.write(into: &writer) }

    init(from reader: inout ByteReader) throws(ByteReaderError) {
        registration = try SealedBox(from: &reader)
    }
}
