internal import WatchwordCryptography

/// Where a device keeps its key.
///
/// No value proves that a person was present.
public enum KeyCustody: String, CaseIterable, Hashable, Sendable {
    /// In a vault: the key can be copied as easily as the open vault.
    case vault
    /// In a TPM, as the device states; no policy relies on this.
    case tpm
    /// In a TPM of a trusted maker, as the server verified.
    case attestedTPM = "tpm-attested"
}

/// The purpose of a signature by a device key.
public enum DeviceKeyPurpose: String, CaseIterable, Hashable, Sendable {
    /// Signing in.
    case signIn = "sign-in"
    /// Confirming displayed text.
    case confirm
}

/// A device's public key, with the facts about its storage.
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
    static let pointCount = EllipticCurve.p256.pointCount
}

/// The stored state of a device key that is being registered.
package struct PendingDeviceKey: Hashable, Sendable {
    /// The weakest presence check that is accepted.
    let presence: DeviceKeyTranscript.Presence
    /// The credential that is revoked once the key is registered.
    let replaces: CredentialID?
    /// A key whose TPM must still reveal a secret; `nil` before a device sends a key.
    let activation: Activation?

    /// An attested key that is not active yet.
    struct Activation: Hashable, Sendable {
        let key: RegisteredDeviceKey
        /// SHA-256 of the secret that the TPM must reveal.
        let secretDigest: [UInt8]
    }
}

/// The stored state of a device key; it stays after a revocation, so that only the key's holder
/// learns of the revocation.
package struct DeviceKeyState: Hashable, Sendable {
    private var registration: SealedRowData
    /// The weakest presence check that is accepted.
    let presence: DeviceKeyTranscript.Presence
    /// The uses whose tickets have not been redeemed yet, oldest first, as for enrolled secrets.
    var openUses = OpenUses<DeviceKeyUse>()
    /// The challenges that the key answered recently.
    var spent = SpentChallenges()

    private static let purpose = "watchword device key"

    init(
        sealing key: RegisteredDeviceKey, presence: DeviceKeyTranscript.Presence,
        for row: SealingContext, under version: KeyVersion
    ) {
        var writer = ByteWriter()
        key.write(into: &writer)
        registration = SealedRowData(
            sealing: writer.bytes, as: Self.purpose, for: row, under: version)
        self.presence = presence
    }

    /// The key, if it was sealed for this row under this version.
    func open(
        for row: SealingContext, under version: KeyVersion
    ) throws(VerifierError) -> RegisteredDeviceKey {
        var reader = ByteReader(
            try registration.open(as: Self.purpose, for: row, under: version))
        let key = try RegisteredDeviceKey(from: &reader)
        try reader.end()
        return key
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

    /// Closes all uses, because some of them may have been redeemed.
    mutating func closeAll() { openUses = OpenUses() }
}

/// An accepted signature by a device key.
struct DeviceKeyUse: OpenUse {
    /// The id of the decision.
    let verification: VerificationID
    /// The purpose of the signature.
    let purpose: DeviceKeyPurpose
    /// SHA-256 of the text that was confirmed.
    let textDigest: [UInt8]?
    /// The presence check that the device claims to have passed.
    let presence: DeviceKeyTranscript.Presence
}

extension RegisteredDeviceKey {
    func write(into writer: inout ByteWriter) {
        writer.write(point)
        writer.write(custody.rawValue)
        writer.writeOptional(attestationKeyDigest) { $0.write($1) }
        writer.writeOptional(endorsementKeyDigest) { $0.write($1) }
    }

    init(from reader: inout ByteReader) throws(VerifierError) {
        point = try reader.readBytes()
        custody = try reader.readChoice()
        attestationKeyDigest = try reader.readOptionalBytes()
        endorsementKeyDigest = try reader.readOptionalBytes()
        guard point.count == RegisteredDeviceKey.pointCount else { throw .damagedRow }
    }
}

extension PendingDeviceKey {
    func write(into writer: inout ByteWriter) {
        writer.write(presence.rawValue)
        writer.writeOptional(replaces) { $0.write($1.bytes) }
        writer.writeOptional(activation) { writer, activation in
            activation.key.write(into: &writer)
            writer.write(activation.secretDigest)
        }
    }

    init(from reader: inout ByteReader) throws(VerifierError) {
        presence = try reader.readPresence()
        replaces = try reader.readFlag() ? reader.readID() : nil
        activation =
            try reader.readFlag()
            ? Activation(
                key: RegisteredDeviceKey(from: &reader), secretDigest: reader.readBytes()) : nil
    }
}

extension DeviceKeyState {
    func write(into writer: inout ByteWriter) {
        registration.write(into: &writer)
        writer.write(presence.rawValue)
        openUses.write(into: &writer)
        spent.write(into: &writer)
    }

    init(from reader: inout ByteReader) throws(VerifierError) {
        registration = try SealedRowData(from: &reader)
        presence = try reader.readPresence()
        openUses = try OpenUses(from: &reader)
        spent = try SpentChallenges(fromEndOf: &reader)
    }
}

extension DeviceKeyUse {
    func write(into writer: inout ByteWriter) {
        writer.write(verification.bytes)
        writer.write(purpose.rawValue)
        writer.writeOptional(textDigest) { $0.write($1) }
        writer.write(presence.rawValue)
    }

    init(from reader: inout ByteReader) throws(VerifierError) {
        verification = try reader.readID()
        purpose = try reader.readChoice()
        textDigest = try reader.readOptionalBytes()
        presence = try reader.readPresence()
    }
}

extension ByteReader {
    fileprivate mutating func readPresence() throws(VerifierError) -> DeviceKeyTranscript.Presence {
        guard let presence = DeviceKeyTranscript.Presence(rawValue: try read(UInt8.self)) else {
            throw .damagedRow
        }
        return presence
    }
}
