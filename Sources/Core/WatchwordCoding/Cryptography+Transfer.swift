package import WatchwordCryptography
package import WatchwordSystem

extension SecretBytes: Transferable {
    package func write(to output: FrameWriter) {
        withBytes { output.append(string: $0) }
    }

    package convenience init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Unreadable) {
        let range = try fields.string(bytes, limit: TransferLimits.string)
        self.init(copying: bytes.extracting(range))
    }
}

extension HashAlgorithm: Transferable {}

extension FieldReader {
    /// Reads a secret of at most `limit` bytes.
    package mutating func secret(
        _ bytes: Span<UInt8>, limit: Int
    ) throws(Unreadable) -> SecretBytes {
        SecretBytes(copying: bytes.extracting(try string(bytes, limit: limit)))
    }
}

extension KeyAttestation: Transferable {
    package func write(to output: FrameWriter) {
        output.append(
            endorsementKey, attestationKey, deviceKey, certification, signature, certificates)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let limit = KeyAttestation.largestStructure
        let endorsementKey = try fields.data(bytes, limit: limit)
        let attestationKey = try fields.data(bytes, limit: limit)
        let deviceKey = try fields.data(bytes, limit: limit)
        let certification = try fields.data(bytes, limit: limit)
        let signature = try fields.data(bytes, limit: KeyAttestation.longestSignature)
        let certificates = try fields.list(bytes, most: KeyAttestation.mostCertificates) {
            (fields, bytes) throws(Unreadable) in
            try fields.data(bytes, limit: KeyAttestation.largestCertificate)
        }
        let attestation = KeyAttestation(
            certificates: certificates, endorsementKey: endorsementKey,
            attestationKey: attestationKey, deviceKey: deviceKey, certification: certification,
            signature: signature)
        guard let attestation else { throw Unreadable() }
        self = attestation
    }

    /// The maximum size of the encoding in bytes.
    package static let largest =
        4 * (4 + largestStructure) + 4 + longestSignature
        + 4 + mostCertificates * (4 + largestCertificate)
}

extension KeyActivation: Transferable {
    package func write(to output: FrameWriter) { output.append(blob, seed) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let blob = try fields.data(bytes, limit: KeyActivation.largestBlob)
        let seed = try fields.data(bytes, limit: KeyActivation.largestSeed)
        guard let activation = KeyActivation(blob: blob, seed: seed) else { throw Unreadable() }
        self = activation
    }
}
