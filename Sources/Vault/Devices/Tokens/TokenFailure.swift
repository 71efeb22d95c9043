public import WatchwordSystem

/// Why a device, or the helper that talks to it, did not do what was asked.
public enum TokenFailure: SystemCallError, Hashable, Sendable {
    // The helper.
    /// The helper did not do its work.
    case helper(HelperFailure)
    /// The device did not respond in time.
    case timedOut
    /// The helper broke the protocol.
    case badHelperResponse

    // Any device.
    /// There is no such device.
    case noDevice
    /// This user may not open the device.
    case noPermission
    /// Other programs use the device, or fill its memory.
    case busy
    /// The secret or credential was made by a different device, or the device was reset since then.
    case otherDevice
    /// The PIN was wrong too often for one command; the device allows this many more attempts.
    case wrongPIN(left: UInt32?)
    /// No PIN was given.
    case noPIN
    /// A call failed, with the library's code.
    case failed(call: String, code: UInt32)
    /// The helper could not give up its privileges, so it did nothing.
    case notConfined(SystemCallFailure)
    /// The device's response is malformed or inconsistent.
    case badDeviceResponse
    /// The vault file's data for the device is malformed.
    case badRequest

    // A TPM.
    /// No PIN is accepted for some time; one failure is forgiven after this many seconds.
    case lockedOut(seconds: UInt32?)
    /// PCR 7 has changed since the secret was sealed.
    case changedPCR7
    /// The TPM has no PCR 7 for SHA-256.
    case noPCR7
    /// The storage hierarchy has a password.
    case ownerPassword
    /// The TPM has no certificate from its maker for an RSA or P-256 endorsement key.
    case noCertificate

    // An authenticator.
    /// Too many wrong PINs: the authenticator must be reset.
    case blockedPIN
    /// Three wrong PINs: the authenticator must be removed and inserted again.
    case needsReinsertion
    /// The authenticator has no PIN.
    case noPINSet
    /// The authenticator was not touched in time.
    case notTouched
    /// The authenticator, or its user, declined.
    case declined
    /// The authenticator does not support `hmac-secret`.
    case notSupported
    /// Several authenticators are connected.
    case severalDevices
}

extension TokenFailure {
    /// Whether the helper can report this failure; the process that started the helper detects all
    /// other failures.
    package var isReportedByHelper: Bool {
        switch self {
        case .helper, .timedOut, .badHelperResponse: false
        case .noDevice, .noPermission, .busy, .otherDevice, .wrongPIN, .noPIN, .failed,
            .notConfined, .badDeviceResponse, .badRequest, .lockedOut, .changedPCR7, .noPCR7,
            .ownerPassword, .noCertificate, .blockedPIN, .needsReinsertion, .noPINSet, .notTouched,
            .declined, .notSupported, .severalDevices:
            true
        }
    }

    /// A system call failed in this process.
    package static func system(_ failure: SystemCallFailure) -> Self { .helper(.system(failure)) }
}

extension TokenFailure: Transferable {
    private enum Kind: UInt8, Transferable {
        case plain, wrongPIN, failed, notConfined, lockedOut, helper
    }

    /// The cases without further facts.
    private static let plain: [TokenFailure] = [
        .noDevice, .noPermission, .busy, .otherDevice, .noPIN, .badDeviceResponse, .badRequest,
        .changedPCR7, .noPCR7, .ownerPassword, .noCertificate,
        .blockedPIN, .needsReinsertion, .noPINSet, .notTouched, .declined, .notSupported,
        .severalDevices, .timedOut, .badHelperResponse,
    ]

    package func write(to output: FrameWriter) {
        switch self {
        case .wrongPIN(let left): output.append(Kind.wrongPIN, left)
        case .failed(let call, let code):
            output.append(Kind.failed, ShortWord(showing: call), code)
        case .notConfined(let failure): output.append(Kind.notConfined, failure)
        case .lockedOut(let seconds): output.append(Kind.lockedOut, seconds)
        case .helper(let failure): output.append(Kind.helper, failure)
        default:
            output.append(Kind.plain)
            output.append(self, in: TokenFailure.plain)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .plain: self = try fields.value(bytes, in: TokenFailure.plain)
        case .wrongPIN: self = try fields.make(Self.wrongPIN, from: bytes)
        case .failed:
            let call: ShortWord = try fields.value(bytes)
            self = .failed(call: call.text, code: try fields.value(bytes))
        case .notConfined: self = try fields.make(Self.notConfined, from: bytes)
        case .lockedOut: self = try fields.make(Self.lockedOut, from: bytes)
        case .helper: self = try fields.make(Self.helper, from: bytes)
        }
    }
}
