internal import CTSS2
internal import Devices
internal import Glibc
internal import WatchwordCryptography

/// An object in the TPM's memory; flushed when it is released, unless the TPM keeps it.
@safe final class TPMHandle {
    let number: ESYS_TR
    private let tpm: TPMConnection
    private let isPersistent: Bool

    init(_ number: ESYS_TR, in tpm: TPMConnection, isPersistent: Bool = false) {
        self.number = number
        self.tpm = tpm
        self.isPersistent = isPersistent
    }

    deinit {
        if isPersistent {
            var number = number
            _ = unsafe Esys_TR_Close(tpm.context, &number)
        } else {
            // If this fails, the kernel's resource manager flushes the object when the device is
            // closed.
            _ = unsafe Esys_FlushContext(tpm.context, number)
        }
    }
}

/// A sealed secret in the TPM's memory.
struct LoadedObject {
    let handle: TPMHandle
    let object: TPMObject
    /// The policy that the TPM enforces; empty without a policy.
    let policy: [UInt8]
}

extension TPMConnection {
    /// The storage root key, which the TPM derives from its seed again each time.
    ///
    /// It is made from the template for ECC of the TCG's “TPM v2.0 Provisioning Guidance”, section
    /// 7.5.1.
    func storageRoot() throws(TokenFailure) -> TPMHandle {
        var template = TPM2B_PUBLIC()
        template.publicArea.type = TPM2_ALG_ECC
        template.publicArea.nameAlg = TPM2_ALG_SHA256
        template.publicArea.objectAttributes =
            TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_SENSITIVEDATAORIGIN
            | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA | TPMA_OBJECT_RESTRICTED
            | TPMA_OBJECT_DECRYPT
        unsafe template.publicArea.parameters.eccDetail.symmetric = TPMConnection.symmetric
        unsafe template.publicArea.parameters.eccDetail.scheme.scheme = TPM2_ALG_NULL
        unsafe template.publicArea.parameters.eccDetail.curveID = TPM2_ECC_NIST_P256
        unsafe template.publicArea.parameters.eccDetail.kdf.scheme = TPM2_ALG_NULL
        unsafe template.publicArea.unique.ecc.x.size = 32
        unsafe template.publicArea.unique.ecc.y.size = 32
        var sensitive = TPM2B_SENSITIVE_CREATE()
        var (outside, pcrs, number) = (TPM2B_DATA(), TPML_PCR_SELECTION(), ESYS_TR())
        try check(
            "Esys_CreatePrimary",
            unsafe Esys_CreatePrimary(
                context, ESYS_TR_RH_OWNER, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, &sensitive,
                &template, &outside, &pcrs, &number, nil, nil, nil, nil))
        return TPMHandle(number, in: self)
    }

    /// Seals `secret`.
    ///
    /// With a PIN, failures count towards the TPM's own lock-out.
    func seal(
        _ secret: SecretBytes, pin: SecretBytes?, isBoundToPCR7: Bool, under root: TPMHandle
    ) throws(TokenFailure) -> TPMObject {
        var template = TPM2B_PUBLIC()
        template.publicArea.type = TPM2_ALG_KEYEDHASH
        template.publicArea.nameAlg = TPM2_ALG_SHA256
        unsafe template.publicArea.parameters.keyedHashDetail.scheme.scheme = TPM2_ALG_NULL
        template.publicArea.objectAttributes = TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT
        if pin == nil { template.publicArea.objectAttributes |= TPMA_OBJECT_NODA }
        if isBoundToPCR7 {
            try requirePCR7()
            let trial = try session(TPM2_SE(TPM2_SE_TRIAL), under: root)
            let policy = try digest(ofPolicyIn: trial, requiresPIN: pin != nil)
            template.publicArea.authPolicy.size = put(
                policy.span, into: &template.publicArea.authPolicy.buffer)
        } else {
            template.publicArea.objectAttributes |= TPMA_OBJECT_USERWITHAUTH
        }
        var sensitive = TPM2B_SENSITIVE_CREATE()
        defer { wipe(&sensitive) }
        sensitive.sensitive.data.size = secret.withBytes {
            put($0, into: &sensitive.sensitive.data.buffer)
        }
        if let pin {
            sensitive.sensitive.userAuth.size = pin.withBytes {
                put($0, into: &sensitive.sensitive.userAuth.buffer)
            }
        }
        let created = try create(&template, &sensitive, under: root)
        let object = TPMObject(
            publicArea: created.publicArea, privateArea: created.privateArea,
            requiresPIN: pin != nil, isBoundToPCR7: isBoundToPCR7)
        guard let object else { throw .badDeviceResponse }
        return object
    }

    /// A new object, as the TPM returns it.
    struct CreatedObject {
        /// `TPM2B_PUBLIC`.
        let publicArea: [UInt8]
        /// `TPM2B_PRIVATE`.
        let privateArea: [UInt8]
        /// The parsed public area.
        let publicPart: TPM2B_PUBLIC
    }

    /// Lets the TPM make an object.
    func create(
        _ template: inout TPM2B_PUBLIC, _ sensitive: inout TPM2B_SENSITIVE_CREATE,
        under parent: TPMHandle
    ) throws(TokenFailure) -> CreatedObject {
        var (outside, pcrs) = (TPM2B_DATA(), TPML_PCR_SELECTION())
        var privatePart: UnsafeMutablePointer<TPM2B_PRIVATE>?
        var publicPart: UnsafeMutablePointer<TPM2B_PUBLIC>?
        let session = try session(TPM2_SE(TPM2_SE_HMAC), under: parent)
        try check(
            "Esys_Create",
            unsafe Esys_Create(
                context, parent.number, session.number, ESYS_TR_NONE, ESYS_TR_NONE, &sensitive,
                &template, &outside, &pcrs, &privatePart, &publicPart, nil, nil, nil))
        defer {
            unsafe Esys_Free(privatePart)
            unsafe Esys_Free(publicPart)
        }
        guard let found = unsafe publicPart else { throw .badDeviceResponse }
        return CreatedObject(
            publicArea: try unsafe bytes {
                unsafe Tss2_MU_TPM2B_PUBLIC_Marshal(publicPart, $0, $1, $2)
            },
            privateArea: try unsafe bytes {
                unsafe Tss2_MU_TPM2B_PRIVATE_Marshal(privatePart, $0, $1, $2)
            }, publicPart: unsafe found.pointee)
    }

    func load(_ object: TPMObject, under root: TPMHandle) throws(TokenFailure) -> LoadedObject {
        let (handle, publicPart) = try load(
            object.publicArea, object.privateArea, of: TPM2_ALG_KEYEDHASH, under: root)
        let policy = publicPart.publicArea.authPolicy
        return LoadedObject(
            handle: handle, object: object, policy: try take(policy.size, from: policy.buffer))
    }

    /// Loads an object of this type.
    func load(
        _ publicArea: [UInt8], _ privateArea: [UInt8], of type: TPM2_ALG_ID, under parent: TPMHandle
    ) throws(TokenFailure) -> (TPMHandle, TPM2B_PUBLIC) {
        var (publicPart, privatePart) = (TPM2B_PUBLIC(), TPM2B_PRIVATE())
        var (used, otherUsed) = (0, 0)
        guard
            unsafe Tss2_MU_TPM2B_PUBLIC_Unmarshal(
                publicArea, publicArea.count, &used, &publicPart) == 0,
            unsafe Tss2_MU_TPM2B_PRIVATE_Unmarshal(
                privateArea, privateArea.count, &otherUsed, &privatePart) == 0,
            used == publicArea.count, otherUsed == privateArea.count,
            publicPart.publicArea.type == type
        else { throw .badRequest }
        let session = try session(TPM2_SE(TPM2_SE_HMAC), under: parent)
        var number = ESYS_TR()
        try check(
            "Esys_Load",
            unsafe Esys_Load(
                context, parent.number, session.number, ESYS_TR_NONE, ESYS_TR_NONE, &privatePart,
                &publicPart, &number))
        return (TPMHandle(number, in: self), publicPart)
    }

    /// Unseals a loaded secret; throws ``TokenFailure/wrongPIN(left:)`` for a wrong PIN.
    func unseal(
        _ loaded: LoadedObject, pin: SecretBytes?, under root: TPMHandle
    ) throws(TokenFailure) -> SecretBytes {
        // The TPM compares the PIN without zeros at its end.
        var authorization = TPM2B_AUTH()
        defer { wipe(&authorization) }
        if let pin {
            guard pin.count <= TokenRequest.longestPIN else { throw .wrongPIN(left: nil) }
            authorization.size = pin.withBytes { put($0, into: &authorization.buffer) }
        }
        try check(
            "Esys_TR_SetAuth",
            unsafe Esys_TR_SetAuth(context, loaded.handle.number, &authorization))
        let session: TPMHandle
        if loaded.object.isBoundToPCR7 {
            session = try self.session(TPM2_SE(TPM2_SE_POLICY), under: root)
            _ = try digest(ofPolicyIn: session, requiresPIN: loaded.object.requiresPIN)
        } else {
            session = try self.session(TPM2_SE(TPM2_SE_HMAC), under: root)
        }
        var data: UnsafeMutablePointer<TPM2B_SENSITIVE_DATA>?
        try check(
            "Esys_Unseal",
            unsafe Esys_Unseal(
                context, loaded.handle.number, session.number, ESYS_TR_NONE, ESYS_TR_NONE, &data))
        guard let found = unsafe data else { throw .badDeviceResponse }
        defer {
            unsafe explicit_bzero(found, MemoryLayout<TPM2B_SENSITIVE_DATA>.size)
            unsafe Esys_Free(found)
        }
        guard unsafe found.pointee.size == TokenRequest.secretCount else {
            throw .badDeviceResponse
        }
        return unsafe withUnsafeBytes(of: &found.pointee.buffer) { buffer in
            let start = unsafe buffer.bindMemory(to: UInt8.self)
            let part = unsafe UnsafeBufferPointer(rebasing: start[..<TokenRequest.secretCount])
            return SecretBytes(copying: unsafe Span(_unsafeElements: part))
        }
    }

    func bytes(
        _ marshal: (UnsafeMutablePointer<UInt8>, Int, UnsafeMutablePointer<Int>) -> TSS2_RC
    ) throws(TokenFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: TPMObject.largestArea)
        var count = 0
        let result = unsafe bytes.withUnsafeMutableBufferPointer { buffer -> TSS2_RC in
            guard let start = buffer.baseAddress else { return TSS2_RC.max }
            return unsafe marshal(start, buffer.count, &count)
        }
        try check("Tss2_MU_Marshal", result)
        return Array(bytes.prefix(count))
    }
}
