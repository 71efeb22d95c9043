internal import CTSS2
internal import Devices
internal import WatchwordCryptography

// Key pairs that sign.
extension TPMConnection {
    /// Where the TCG's “TPM v2.0 Provisioning Guidance”, section 7.8, puts the storage root key.
    private static let persistentRoot: TPM2_HANDLE = 0x8100_0001

    /// The parent of new keys: the persistent storage root key, or else a key that is derived anew.
    ///
    /// - Returns: the parent, and its persistent handle or 0.
    func parentOfNewKeys() throws(TokenFailure) -> (TPMHandle, UInt32) {
        if let root = persistentParent(TPMConnection.persistentRoot) {
            return (root, TPMConnection.persistentRoot)
        }
        return (try storageRoot(), 0)
    }

    /// The parent of a key; throws ``TokenFailure/otherDevice`` if the key was made under a
    /// different parent.
    func parent(of key: TPMKey) throws(TokenFailure) -> TPMHandle {
        var parent: TPMHandle?
        if key.parent == 0 {
            parent = try storageRoot()
        } else if key.parent == TPMConnection.persistentRoot {
            parent = persistentParent(key.parent)
        }
        guard let parent, try name(of: parent) == key.parentName else { throw .otherDevice }
        return parent
    }

    private func persistentParent(_ handle: TPM2_HANDLE) -> TPMHandle? {
        var number = ESYS_TR()
        let result = unsafe Esys_TR_FromTPMPublic(
            context, handle, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, &number)
        return result == 0 ? TPMHandle(number, in: self, isPersistent: true) : nil
    }

    /// The Name of an object, a digest of its public area.
    private func name(of object: TPMHandle) throws(TokenFailure) -> [UInt8] {
        var name: UnsafeMutablePointer<TPM2B_NAME>?
        try check("Esys_TR_GetName", unsafe Esys_TR_GetName(context, object.number, &name))
        guard let found = unsafe name else { throw .badDeviceResponse }
        defer { unsafe Esys_Free(found) }
        return try unsafe take(found.pointee.size, from: found.pointee.name)
    }

    /// Makes a key pair on P-256 that only signs with ECDSA and SHA-256, only in this TPM, and only
    /// with the authorization value.
    ///
    /// Without a PIN, nobody can guess the value, so failures do not count towards the TPM's
    /// lock-out, which would also lock other programs' keys.
    func makeKey(
        _ authorization: SecretBytes, requiresPIN: Bool, under parent: TPMHandle, _ handle: UInt32
    ) throws(TokenFailure) -> (TPMKey, point: [UInt8]) {
        var template = TPM2B_PUBLIC()
        template.publicArea.type = TPM2_ALG_ECC
        template.publicArea.nameAlg = TPM2_ALG_SHA256
        template.publicArea.objectAttributes =
            TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_SENSITIVEDATAORIGIN
            | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_SIGN_ENCRYPT
        if !requiresPIN { template.publicArea.objectAttributes |= TPMA_OBJECT_NODA }
        unsafe template.publicArea.parameters.eccDetail.symmetric.algorithm = TPM2_ALG_NULL
        unsafe template.publicArea.parameters.eccDetail.scheme.scheme = TPM2_ALG_ECDSA
        unsafe template.publicArea.parameters.eccDetail.scheme.details.ecdsa.hashAlg =
            TPM2_ALG_SHA256
        unsafe template.publicArea.parameters.eccDetail.curveID = TPM2_ECC_NIST_P256
        unsafe template.publicArea.parameters.eccDetail.kdf.scheme = TPM2_ALG_NULL
        var sensitive = TPM2B_SENSITIVE_CREATE()
        defer { wipe(&sensitive) }
        sensitive.sensitive.userAuth.size = authorization.withBytes {
            put($0, into: &sensitive.sensitive.userAuth.buffer)
        }
        let created = try create(&template, &sensitive, under: parent)
        let point = unsafe created.publicPart.publicArea.unique.ecc
        let key = TPMKey(
            publicArea: created.publicArea, privateArea: created.privateArea, parent: handle,
            parentName: try name(of: parent), requiresPIN: requiresPIN)
        guard let key else { throw .badDeviceResponse }
        return (key, point: [4] + (try coordinate(point.x)) + (try coordinate(point.y)))
    }

    /// A number of 32 bytes; a TPM may leave out zeros at its start.
    private func coordinate(_ number: TPM2B_ECC_PARAMETER) throws(TokenFailure) -> [UInt8] {
        let bytes = try take(number.size, from: number.buffer)
        guard bytes.count <= 32 else { throw .badDeviceResponse }
        return [UInt8](repeating: 0, count: 32 - bytes.count) + bytes
    }

    func load(_ key: TPMKey, under parent: TPMHandle) throws(TokenFailure) -> TPMHandle {
        try load(key.publicArea, key.privateArea, of: TPM2_ALG_ECC, under: parent).0
    }

    /// Sets the value with which the next commands use a key.
    func setAuthorization(
        _ authorization: SecretBytes, of key: TPMHandle
    ) throws(TokenFailure) {
        var value = TPM2B_AUTH()
        defer { wipe(&value) }
        value.size = authorization.withBytes { put($0, into: &value.buffer) }
        try check("Esys_TR_SetAuth", unsafe Esys_TR_SetAuth(context, key.number, &value))
    }

    /// The SHA-256 digest of a message.
    func hash(_ message: [UInt8]) -> [UInt8] {
        sha256(message.span)
    }

    /// Signs a message; the signature is in DER.
    func sign(
        _ message: [UInt8], with key: TPMHandle, _ authorization: SecretBytes,
        under parent: TPMHandle
    ) throws(TokenFailure) -> [UInt8] {
        try setAuthorization(authorization, of: key)
        var digest = TPM2B_DIGEST()
        let hash = hash(message)
        digest.size = put(hash.span, into: &digest.buffer)
        // The scheme is the key's own.
        var (scheme, ticket) = (TPMT_SIG_SCHEME(), TPMT_TK_HASHCHECK())
        scheme.scheme = TPM2_ALG_NULL
        ticket.tag = TPM2_ST_HASHCHECK
        ticket.hierarchy = TPM2_RH_NULL
        let session = try session(TPM2_SE(TPM2_SE_HMAC), under: parent)
        var signature: UnsafeMutablePointer<TPMT_SIGNATURE>?
        try check(
            "Esys_Sign",
            unsafe Esys_Sign(
                context, key.number, session.number, ESYS_TR_NONE, ESYS_TR_NONE, &digest, &scheme,
                &ticket, &signature))
        guard let found = unsafe signature else { throw .badDeviceResponse }
        defer { unsafe Esys_Free(found) }
        return try der(unsafe found.pointee)
    }

    /// A signature with ECDSA, in DER.
    func der(_ signature: TPMT_SIGNATURE) throws(TokenFailure) -> [UInt8] {
        guard signature.sigAlg == TPM2_ALG_ECDSA else { throw .badDeviceResponse }
        let numbers = unsafe signature.signature.ecdsa
        let r = try coordinate(numbers.signatureR)
        let s = try coordinate(numbers.signatureS)
        return ecdsaSignature(r: r.span, s: s.span)
    }
}
