internal import CTSS2
internal import Devices
internal import WatchwordCryptography

// What a TPM says about its keys (TCG “TPM 2.0 Keys for Device Identity and Attestation”).
extension TPMConnection {
    /// A key that signs only what the TPM itself generates; the same one each time.
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
            throw .badDeviceAnswer
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
        // This one only encrypts what is revealed.
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
        guard let found = unsafe secret else { throw .badDeviceAnswer }
        defer { unsafe Esys_Free(found) }
        // The secret is good for one registration.
        let bytes = try unsafe take(found.pointee.size, from: found.pointee.buffer)
        guard bytes.count == TokenRequest.secretCount else { throw .badDeviceAnswer }
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
        // Otherwise the TPM ends it itself, after which it cannot be flushed.
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
