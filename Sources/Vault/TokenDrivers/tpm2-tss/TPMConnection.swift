internal import CTSS2
internal import Devices
internal import Glibc
internal import WatchwordCryptography

/// A connection to a TPM.
///
/// Each session that carries a secret is salted with a key of the TPM, and encrypts it, so neither
/// a PIN nor a secret can be read on the bus between processor and chip.
@safe final class TPMConnection {
    private var transport: OpaquePointer?
    private(set) var context: OpaquePointer?

    /// Opens the device, without sending anything to it.
    init(_ address: TPMAddress) throws(TokenFailure) {
        var transport: OpaquePointer?
        guard unsafe Tss2_TctiLdr_Initialize(address.text, &transport) == 0 else {
            throw TPMConnection.obstacle(at: address)
        }
        unsafe self.transport = transport
        var context: OpaquePointer?
        let result = unsafe Esys_Initialize(&context, transport, nil)
        unsafe self.context = context
        try check("Esys_Initialize", result)
    }

    /// Why a TPM could not be opened; the library does not report it.
    private static func obstacle(at address: TPMAddress) -> TokenFailure {
        guard let path = address.devicePath else { return .noDevice }
        let file = unsafe open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        let reason = errno
        guard file < 0 else {
            close(file)
            return .noDevice
        }
        switch reason {
        case EACCES, EPERM: return .noPermission
        case EBUSY: return .busy
        default: return .noDevice
        }
    }

    deinit {
        unsafe Esys_Finalize(&context)
        unsafe Tss2_TctiLdr_Finalize(&transport)
    }

    /// Throws unless a call succeeded.
    func check(_ call: String, _ code: TSS2_RC) throws(TokenFailure) {
        guard code != 0 else { return }
        throw TPMCode(code).refusal(of: call)
    }

    /// Reads a number that describes the TPM's state; `nil` if the TPM does not report it.
    func property(_ property: UInt32) -> UInt32? {
        guard let found = capability(TPM2_CAP_TPM_PROPERTIES, from: property, count: 1) else {
            return nil
        }
        let list = unsafe found.tpmProperties
        let first = list.tpmProperty.0
        guard list.count > 0, first.property == property else { return nil }
        return first.value
    }

    /// The handles in the TPM, beginning with `first`, of the same type; none if the TPM does not
    /// report them.
    func handles(from first: TPM2_HANDLE) -> [TPM2_HANDLE] {
        guard let found = capability(TPM2_CAP_HANDLES, from: first, count: 64) else { return [] }
        let list = unsafe found.handles
        return unsafe withUnsafeBytes(of: list.handle) { bytes in
            unsafe Array(bytes.bindMemory(to: TPM2_HANDLE.self).prefix(Int(list.count)))
        }
    }

    private func capability(
        _ capability: TPM2_CAP, from first: UInt32, count: UInt32
    ) -> TPMU_CAPABILITIES? {
        var isMore: TPMI_YES_NO = 0
        var data: UnsafeMutablePointer<TPMS_CAPABILITY_DATA>?
        let result = unsafe Esys_GetCapability(
            context, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, capability, first, count, &isMore,
            &data)
        guard result == 0, let found = unsafe data else { return nil }
        defer { unsafe Esys_Free(found) }
        return unsafe found.pointee.data
    }

    /// How many more wrong PINs the TPM permits; `nil` if the TPM does not report this number.
    ///
    /// - Parameter spares: whether to leave a quarter of what the TPM permits to other objects.
    func attemptsLeft(sparing spares: Bool = false) -> UInt32? {
        guard let failed = property(WATCHWORD_PT_LOCKOUT_COUNTER),
            let most = property(WATCHWORD_PT_MAX_AUTH_FAIL)
        else { return nil }
        let usable = spares ? most - most / 4 : most
        return usable > failed ? usable - failed : 0
    }

    /// The number of seconds after which the TPM forgives one wrong PIN.
    func secondsPerAttempt() -> UInt32? { property(WATCHWORD_PT_LOCKOUT_INTERVAL) }
}

/// A TPM's return code (TPM 2.0 Library, Part 2, section 6.6).
struct TPMCode {
    let value: UInt32

    init(_ value: TSS2_RC) { self.value = value }

    /// The refusal if `call` returned this code.
    func refusal(of call: String) -> TokenFailure {
        switch value & 0xffff {
        case WATCHWORD_RC_LOCKOUT: .lockedOut(seconds: nil)
        // Still so after the library has repeated the command; or other programs have filled the
        // TPM, which only the kernel's resource manager prevents.
        case WATCHWORD_RC_RETRY, WATCHWORD_RC_YIELDED, WATCHWORD_RC_TESTING,
            WATCHWORD_RC_OBJECT_MEMORY, WATCHWORD_RC_SESSION_MEMORY:
            .busy
        // TPM_RC_AUTH_FAIL, which the TPM counts: the key has a PIN.
        case _
        where isFormatOne && number == 0x0e && (call == "Esys_Sign" || call == "Esys_Certify"):
            .wrongPIN(left: nil)
        // TPM_RC_AUTH_FAIL and TPM_RC_BAD_AUTH; which session failed does not matter.
        case _ where isFormatOne && (number == 0x0e || number == 0x22):
            switch call {
            case "Esys_Unseal": .wrongPIN(left: nil)
            // The value is not the key's.
            case "Esys_Sign", "Esys_Certify": .badRequest
            default: .ownerPassword
            }
        // TPM_RC_POLICY_FAIL, TPM_RC_PCR_CHANGED
        case _ where isFormatOne && number == 0x1d, 0x128: .changedPCR7
        // TPM_RC_INTEGRITY: the private area was not encrypted by this TPM.
        case _ where isFormatOne && number == 0x1f && call == "Esys_Load": .otherDevice
        // The file's content differs from what the TPM wrote.
        case _ where (isFormatOne || isFromLibrary) && call == "Esys_Load": .badRequest
        default: .failed(call: call, code: value)
        }
    }

    /// Whether the code was sent by the TPM and names a parameter, handle or session.
    private var isFormatOne: Bool { value & 0xffff_0000 == 0 && value & 0x80 != 0 }

    /// Whether the library refused the call before it sent anything: layers ESAPI, SAPI and
    /// marshalling.
    private var isFromLibrary: Bool { (7...9).contains(value >> 16) }

    /// A format-one code without the parameter, handle or session.
    private var number: UInt32 { value & 0x3f }
}

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
        guard let found = unsafe digest else { throw .badDeviceResponse }
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
        guard let found = unsafe digests else { throw .badDeviceResponse }
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
        guard bytes.count == Int(count) else { throw .badDeviceResponse }
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
