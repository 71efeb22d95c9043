internal import CTSS2
internal import Devices
internal import WatchwordCryptography

/// The endorsement keys that the makers of TPMs certify (TCG “EK Credential Profile”, section 2.2.1
/// and annex B).
///
/// The first one that has a certificate is used. P-256 comes first: the TPM derives the key twice for
/// each enrolment, and must search for large primes to derive an RSA key.
enum EndorsementKind: CaseIterable {
    /// Template L-2.
    case p256
    /// Template L-1: RSA with 2,048 bits.
    case rsa

    /// Where a TPM keeps the certificate.
    var certificateIndex: TPM2_HANDLE {
        switch self {
        case .p256: 0x01c0_000a
        case .rsa: 0x01c0_0002
        }
    }
}

// The endorsement key, and the certificates that the TPM's maker wrote.
extension TPMConnection {
    /// A primary key in the TPM's memory, and its `TPMT_PUBLIC`.
    struct PrimaryKey {
        let handle: TPMHandle
        let publicArea: [UInt8]
    }

    /// The policy of endorsement keys: the endorsement hierarchy's password.
    private static let endorsementPolicy: [UInt8] = [
        0x83, 0x71, 0x97, 0x67, 0x44, 0x84, 0xb3, 0xf8, 0x1a, 0x90, 0xcc, 0x8d, 0x46, 0xa5, 0xd7,
        0x24, 0xfd, 0x52, 0xd7, 0x6e, 0x06, 0x52, 0x0b, 0x64, 0xf2, 0xa1, 0xda, 0x1b, 0x33, 0x14,
        0x69, 0xaa,
    ]
    /// Each TPM can read this many bytes at once.
    private static let readCount = 512
    /// Where a TPM keeps the certificates of issuers (section 2.2.1.5.2).
    private static let issuerIndices: ClosedRange<TPM2_HANDLE> = 0x01c0_0100...0x01c0_01ff
    /// The maximum size in bytes of everything that is read from there.
    private static let mostIssuerBytes =
        (KeyAttestation.mostCertificates - 1) * KeyAttestation.largestCertificate

    /// The endorsement key to use, and its certificate in DER.
    func endorsement() throws(TokenFailure) -> (EndorsementKind, certificate: [UInt8]) {
        for kind in EndorsementKind.allCases {
            guard let content = try content(ofIndex: kind.certificateIndex) else { continue }
            if let certificate = storedCertificates(in: [content]).first {
                return (kind, certificate)
            }
        }
        throw .noCertificate
    }

    /// The certificates of issuers that the TPM's maker wrote, in DER; at most seven.
    ///
    /// The server may have them, too, so one that cannot be read is left out.
    func issuerCertificates() -> [[UInt8]] {
        var contents: [[UInt8]] = []
        var count = 0
        for index in handles(from: TPMConnection.issuerIndices.lowerBound)
        where TPMConnection.issuerIndices.contains(index) {
            do throws(TokenFailure) {
                guard let content = try content(ofIndex: index) else { continue }
                count += content.count
                guard count <= TPMConnection.mostIssuerBytes else { break }
                contents.append(content)
            } catch {
                continue
            }
        }
        return Array(
            storedCertificates(in: contents).prefix(KeyAttestation.mostCertificates - 1))
    }

    /// The endorsement key, which the TPM derives from its seed again each time.
    func endorsementKey(_ kind: EndorsementKind) throws(TokenFailure) -> PrimaryKey {
        var template = TPM2B_PUBLIC()
        template.publicArea.nameAlg = TPM2_ALG_SHA256
        template.publicArea.objectAttributes =
            TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_SENSITIVEDATAORIGIN
            | TPMA_OBJECT_ADMINWITHPOLICY | TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_DECRYPT
        template.publicArea.authPolicy.size = put(
            TPMConnection.endorsementPolicy.span, into: &template.publicArea.authPolicy.buffer)
        switch kind {
        case .p256:
            template.publicArea.type = TPM2_ALG_ECC
            unsafe template.publicArea.parameters.eccDetail.symmetric = TPMConnection.symmetric
            unsafe template.publicArea.parameters.eccDetail.scheme.scheme = TPM2_ALG_NULL
            unsafe template.publicArea.parameters.eccDetail.curveID = TPM2_ECC_NIST_P256
            unsafe template.publicArea.parameters.eccDetail.kdf.scheme = TPM2_ALG_NULL
            unsafe template.publicArea.unique.ecc.x.size = 32
            unsafe template.publicArea.unique.ecc.y.size = 32
        case .rsa:
            template.publicArea.type = TPM2_ALG_RSA
            unsafe template.publicArea.parameters.rsaDetail.symmetric = TPMConnection.symmetric
            unsafe template.publicArea.parameters.rsaDetail.scheme.scheme = TPM2_ALG_NULL
            unsafe template.publicArea.parameters.rsaDetail.keyBits = 2_048
            unsafe template.publicArea.unique.rsa.size = 256
        }
        return try endorsementPrimary(&template)
    }

    /// The content of an index of the TPM's memory; `nil` if there is no such index.
    private func content(ofIndex number: TPM2_HANDLE) throws(TokenFailure) -> [UInt8]? {
        var found = ESYS_TR()
        let result = unsafe Esys_TR_FromTPMPublic(
            context, number, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, &found)
        guard result == 0 else { return nil }
        let index = TPMHandle(found, in: self, isPersistent: true)
        let size = try size(of: index)
        guard size <= KeyAttestation.largestCertificate else { throw .badDeviceAnswer }
        var bytes: [UInt8] = []
        while bytes.count < size {
            let part = min(size - bytes.count, TPMConnection.readCount)
            let read = try read(part, at: bytes.count, of: index)
            bytes += read
        }
        return bytes
    }

    private func size(of index: TPMHandle) throws(TokenFailure) -> Int {
        var description: UnsafeMutablePointer<TPM2B_NV_PUBLIC>?
        try check(
            "Esys_NV_ReadPublic",
            unsafe Esys_NV_ReadPublic(
                context, index.number, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, &description, nil))
        guard let found = unsafe description else { throw .badDeviceAnswer }
        defer { unsafe Esys_Free(found) }
        return Int(unsafe found.pointee.nvPublic.dataSize)
    }

    private func read(
        _ count: Int, at offset: Int, of index: TPMHandle
    ) throws(TokenFailure) -> [UInt8] {
        var data: UnsafeMutablePointer<TPM2B_MAX_NV_BUFFER>?
        try check(
            "Esys_NV_Read",
            unsafe Esys_NV_Read(
                context, index.number, index.number, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE,
                UInt16(count), UInt16(offset), &data))
        guard let found = unsafe data else { throw .badDeviceAnswer }
        defer { unsafe Esys_Free(found) }
        let bytes = try unsafe take(found.pointee.size, from: found.pointee.buffer)
        guard bytes.count == count else { throw .badDeviceAnswer }
        return bytes
    }
}
