internal import CTSS2
internal import Devices
internal import Glibc

extension TPMConnection {
    static var symmetric: TPMT_SYM_DEF_OBJECT {
        var algorithm = TPMT_SYM_DEF_OBJECT()
        algorithm.algorithm = TPM2_ALG_AES
        unsafe algorithm.keyBits.aes = 128
        unsafe algorithm.mode.aes = TPM2_ALG_CFB
        return algorithm
    }

    /// Starts a session that is salted with the key `root` and encrypts parameters.
    func session(_ kind: TPM2_SE, under root: TPMHandle) throws(TokenFailure) -> TPMHandle {
        var algorithm = TPMT_SYM_DEF()
        algorithm.algorithm = TPM2_ALG_AES
        unsafe algorithm.keyBits.aes = 128
        unsafe algorithm.mode.aes = TPM2_ALG_CFB
        var number = ESYS_TR()
        try check(
            "Esys_StartAuthSession",
            unsafe Esys_StartAuthSession(
                context, root.number, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, nil,
                kind, &algorithm, TPMI_ALG_HASH(TPM2_ALG_SHA256), &number))
        let session = TPMHandle(number, in: self)
        let attributes = TPMA_SESSION(
            TPMA_SESSION_CONTINUESESSION | TPMA_SESSION_DECRYPT | TPMA_SESSION_ENCRYPT)
        try check(
            "Esys_TRSess_SetAttributes",
            unsafe Esys_TRSess_SetAttributes(context, number, attributes, 0xff))
        return session
    }

    /// Throws if PCR 7 is not what it was when the object was sealed; no PIN is needed, and no
    /// failure is counted.
    func expectUnchangedPCR7(
        for loaded: LoadedObject, under root: TPMHandle
    ) throws(TokenFailure) {
        try requirePCR7()
        let trial = try session(TPM2_SE(TPM2_SE_TRIAL), under: root)
        let policy = try digest(ofPolicyIn: trial, requiresPIN: loaded.object.requiresPIN)
        guard policy == loaded.policy else { throw .changedPCR7 }
    }

    /// Adds the policy to a session: PCR 7 as it is now and, if required, the PIN.
    ///
    /// - Returns: the policy's digest.
    func digest(
        ofPolicyIn session: TPMHandle, requiresPIN: Bool
    ) throws(TokenFailure) -> [UInt8] {
        var (current, pcrs) = (TPM2B_DIGEST(), TPMConnection.pcr7)
        try check(
            "Esys_PolicyPCR",
            unsafe Esys_PolicyPCR(
                context, session.number, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, &current, &pcrs))
        if requiresPIN {
            try check(
                "Esys_PolicyAuthValue",
                unsafe Esys_PolicyAuthValue(
                    context, session.number, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE))
        }
        var digest: UnsafeMutablePointer<TPM2B_DIGEST>?
        try check(
            "Esys_PolicyGetDigest",
            unsafe Esys_PolicyGetDigest(
                context, session.number, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, &digest))
        guard let found = unsafe digest else { throw .badDeviceAnswer }
        defer { unsafe Esys_Free(found) }
        return try unsafe take(found.pointee.size, from: found.pointee.buffer)
    }

    /// Throws if the TPM has no PCR 7 for SHA-256: a policy that names it would protect nothing.
    func requirePCR7() throws(TokenFailure) {
        var (pcrs, counter) = (TPMConnection.pcr7, UInt32(0))
        var digests: UnsafeMutablePointer<TPML_DIGEST>?
        try check(
            "Esys_PCR_Read",
            unsafe Esys_PCR_Read(
                context, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, &pcrs, &counter, nil, &digests))
        guard let found = unsafe digests else { throw .badDeviceAnswer }
        defer { unsafe Esys_Free(found) }
        guard unsafe found.pointee.count == 1 else { throw .noPCR7 }
    }

    private static var pcr7: TPML_PCR_SELECTION {
        var selection = TPML_PCR_SELECTION()
        selection.count = 1
        selection.pcrSelections.0.hash = TPM2_ALG_SHA256
        selection.pcrSelections.0.sizeofSelect = 3
        selection.pcrSelections.0.pcrSelect.0 = 1 << 7
        return selection
    }

    // MARK: C's arrays, which Swift imports as tuples

    /// Copies bytes into an array, which must be large enough; returns their count.
    func put<Storage>(_ bytes: Span<UInt8>, into storage: inout Storage) -> UInt16 {
        unsafe withUnsafeMutableBytes(of: &storage) { storage in
            precondition(bytes.count <= storage.count, "the bytes fit")
            for index in bytes.indices { unsafe storage[index] = bytes[index] }
        }
        return UInt16(bytes.count)
    }

    /// Copies the first `count` bytes of an array; they are not secret.
    func take<Storage>(_ count: UInt16, from storage: Storage) throws(TokenFailure) -> [UInt8] {
        let bytes = unsafe withUnsafeBytes(of: storage) { unsafe Array($0.prefix(Int(count))) }
        guard bytes.count == Int(count) else { throw .badDeviceAnswer }
        return bytes
    }

    /// Overwrites a structure with zeros.
    func wipe<Structure>(_ structure: inout Structure) {
        unsafe withUnsafeMutableBytes(of: &structure) { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe explicit_bzero(start, bytes.count)
        }
    }
}
