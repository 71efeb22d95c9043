internal import CTSS2
internal import Devices
internal import WatchwordCryptography

// A TPM's attestation of its keys (TCG “TPM 2.0 Keys for Device Identity and Attestation”).
extension TPMConnection {
    /// A key that signs only what the TPM itself generates; the same key each time.
    func attestationKey() throws(TokenFailure) -> PrimaryKey {
        var template = TPM2B_PUBLIC()
        template.publicArea.type = TPM2_ALG_ECC
        template.publicArea.nameAlg = TPM2_ALG_SHA256
        template.publicArea.objectAttributes =
            TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_SENSITIVEDATAORIGIN
            | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_SIGN_ENCRYPT
        unsafe template.publicArea.parameters.eccDetail.symmetric.algorithm = TPM2_ALG_NULL
        unsafe template.publicArea.parameters.eccDetail.scheme.scheme = TPM2_ALG_ECDSA
        unsafe template.publicArea.parameters.eccDetail.scheme.details.ecdsa.hashAlg =
            TPM2_ALG_SHA256
        unsafe template.publicArea.parameters.eccDetail.curveID = TPM2_ECC_NIST_P256
        unsafe template.publicArea.parameters.eccDetail.kdf.scheme = TPM2_ALG_NULL
        return try endorsementPrimary(&template)
    }

    func endorsementPrimary(
        _ template: inout TPM2B_PUBLIC
    ) throws(TokenFailure) -> PrimaryKey {
        var sensitive = TPM2B_SENSITIVE_CREATE()
        var (outside, pcrs, number) = (TPM2B_DATA(), TPML_PCR_SELECTION(), ESYS_TR())
        var publicPart: UnsafeMutablePointer<TPM2B_PUBLIC>?
        try check(
            "Esys_CreatePrimary",
            unsafe Esys_CreatePrimary(
                context, ESYS_TR_RH_ENDORSEMENT, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE,
                &sensitive, &template, &outside, &pcrs, &number, &publicPart, nil, nil, nil))
        let handle = TPMHandle(number, in: self)
        defer { unsafe Esys_Free(publicPart) }
        let sized = try unsafe bytes {
            unsafe Tss2_MU_TPM2B_PUBLIC_Marshal(publicPart, $0, $1, $2)
        }
        return PrimaryKey(handle: handle, publicArea: Array(sized.dropFirst(2)))
    }

    /// Lets the attestation key state that `key` is in this TPM, for a message.
    func certify(
        _ key: TPMHandle, by attestationKey: TPMHandle, for message: [UInt8],
        _ authorization: SecretBytes, under parent: TPMHandle
    ) throws(TokenFailure) -> (certification: [UInt8], signature: [UInt8]) {
        try setAuthorization(authorization, of: key)
        var outside = TPM2B_DATA()
        let digest = hash(message)
        outside.size = put(digest.span, into: &outside.buffer)
        // The scheme is the key's own.
        var scheme = TPMT_SIG_SCHEME()
        scheme.scheme = TPM2_ALG_NULL
        let session = try session(TPM2_SE(TPM2_SE_HMAC), under: parent)
        var statement: UnsafeMutablePointer<TPM2B_ATTEST>?
        var signature: UnsafeMutablePointer<TPMT_SIGNATURE>?
        try check(
            "Esys_Certify",
            unsafe Esys_Certify(
                context, key.number, attestationKey.number, session.number, ESYS_TR_PASSWORD,
                ESYS_TR_NONE, &outside, &scheme, &statement, &signature))
        defer {
            unsafe Esys_Free(statement)
            unsafe Esys_Free(signature)
        }
        guard let found = unsafe statement, let signed = unsafe signature else {
            throw .badDeviceResponse
        }
        let certification = try unsafe take(
            found.pointee.size, from: found.pointee.attestationData)
        let encoded = try der(unsafe signed.pointee)
        return (certification, encoded)
    }

    /// Reveals a secret that was protected for the attestation key.
    func activate(
        _ activation: KeyActivation, for attestationKey: TPMHandle, _ endorsementKey: TPMHandle
    ) throws(TokenFailure) -> SecretBytes {
        let session = try endorsementSession()
        // This session only encrypts the revealed secret.
        let encryption = try self.session(TPM2_SE(TPM2_SE_HMAC), under: endorsementKey)
        var (blob, seed) = (TPM2B_ID_OBJECT(), TPM2B_ENCRYPTED_SECRET())
        guard activation.blob.count <= MemoryLayout.size(ofValue: blob.credential),
            activation.seed.count <= MemoryLayout.size(ofValue: seed.secret)
        else { throw .badRequest }
        blob.size = put(activation.blob.span, into: &blob.credential)
        seed.size = put(activation.seed.span, into: &seed.secret)
        var secret: UnsafeMutablePointer<TPM2B_DIGEST>?
        try check(
            "Esys_ActivateCredential",
            unsafe Esys_ActivateCredential(
                context, attestationKey.number, endorsementKey.number, ESYS_TR_PASSWORD,
                session.number, encryption.number, &blob, &seed, &secret))
        guard let found = unsafe secret else { throw .badDeviceResponse }
        defer { unsafe Esys_Free(found) }
        // The secret is valid for one registration.
        let bytes = try unsafe take(found.pointee.size, from: found.pointee.buffer)
        guard bytes.count == TokenRequest.secretCount else { throw .badDeviceResponse }
        return SecretBytes(copying: bytes.span)
    }

    /// A session that satisfies the policy of endorsement keys.
    private func endorsementSession() throws(TokenFailure) -> TPMHandle {
        var algorithm = TPMT_SYM_DEF()
        algorithm.algorithm = TPM2_ALG_NULL
        var number = ESYS_TR()
        try check(
            "Esys_StartAuthSession",
            unsafe Esys_StartAuthSession(
                context, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, nil,
                TPM2_SE(TPM2_SE_POLICY), &algorithm, TPMI_ALG_HASH(TPM2_ALG_SHA256), &number))
        let session = TPMHandle(number, in: self)
        // Otherwise the TPM ends the session itself, and the session can no longer be flushed.
        try check(
            "Esys_TRSess_SetAttributes",
            unsafe Esys_TRSess_SetAttributes(
                context, number, TPMA_SESSION(TPMA_SESSION_CONTINUESESSION), 0xff))
        var (nonce, parameters, reference) = (TPM2B_NONCE(), TPM2B_DIGEST(), TPM2B_NONCE())
        try check(
            "Esys_PolicySecret",
            unsafe Esys_PolicySecret(
                context, ESYS_TR_RH_ENDORSEMENT, number, ESYS_TR_PASSWORD, ESYS_TR_NONE,
                ESYS_TR_NONE, &nonce, &parameters, &reference, 0, nil, nil))
        return session
    }
}

/// The endorsement keys that the makers of TPMs certify (TCG “EK Credential Profile”, section 2.2.1
/// and annex B).
///
/// The first key that has a certificate is used. P-256 comes first: the TPM derives the key twice
/// for each enrolment, and must search for large primes to derive an RSA key.
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
    /// The server may have them, too, so a certificate that cannot be read is left out.
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
        guard size <= KeyAttestation.largestCertificate else { throw .badDeviceResponse }
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
        guard let found = unsafe description else { throw .badDeviceResponse }
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
        guard let found = unsafe data else { throw .badDeviceResponse }
        defer { unsafe Esys_Free(found) }
        let bytes = try unsafe take(found.pointee.size, from: found.pointee.buffer)
        guard bytes.count == count else { throw .badDeviceResponse }
        return bytes
    }
}
