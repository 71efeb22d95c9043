internal import CTSS2
internal import Devices
internal import Glibc
internal import WatchwordCryptography

/// A connection to a TPM.
///
/// Each session that carries a secret is salted with a key of the TPM, and encrypts it, so neither a
/// PIN nor a secret can be read on the bus between processor and chip.
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

    /// Why a TPM could not be opened; the library does not say.
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

    /// The handles in the TPM, beginning with `first`, of the same type; none if it does not report them.
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

    /// How many more wrong PINs the TPM permits; `nil` if it does not report this.
    ///
    /// - Parameter spares: whether to leave a quarter of what the TPM permits to other objects.
    func attemptsLeft(sparing spares: Bool = false) -> UInt32? {
        guard let failed = property(WATCHWORD_PT_LOCKOUT_COUNTER),
            let most = property(WATCHWORD_PT_MAX_AUTH_FAIL)
        else { return nil }
        let usable = spares ? most - most / 4 : most
        return usable > failed ? usable - failed : 0
    }

    /// After how many seconds the TPM forgives one wrong PIN.
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
        // What the file holds is not what the TPM wrote.
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
