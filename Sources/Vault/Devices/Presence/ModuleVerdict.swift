package import WatchwordSystem

/// The system modules' verdict on the person.
public enum ModuleVerdict: Hashable, Sendable {
    /// The person was recognised, and the account may be used.
    case granted
    /// The person was not recognised.
    case denied
    /// There is no service file, so there are no modules to ask.
    case noServiceFile
    /// The user of this process has no name.
    case noUserName
    /// The person was recognised, but the account is locked or has expired.
    case accountRefused(PAMCallFailure)
    /// No module could decide.
    case failed(PAMCallFailure)
}

extension ModuleVerdict: Transferable {
    private enum Kind: UInt8, Transferable {
        case granted, denied, noServiceFile, noUserName, accountRefused, failed
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .granted: output.append(Kind.granted)
        case .denied: output.append(Kind.denied)
        case .noServiceFile: output.append(Kind.noServiceFile)
        case .noUserName: output.append(Kind.noUserName)
        case .accountRefused(let failure): output.append(Kind.accountRefused, failure)
        case .failed(let failure): output.append(Kind.failed, failure)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .granted: self = .granted
        case .denied: self = .denied
        case .noServiceFile: self = .noServiceFile
        case .noUserName: self = .noUserName
        case .accountRefused: self = try fields.make(Self.accountRefused, from: bytes)
        case .failed: self = try fields.make(Self.failed, from: bytes)
        }
    }
}

/// A libpam call that failed.
public struct PAMCallFailure: Error, Hashable, Sendable {
    /// The libpam calls that are made.
    public enum Call: String, CaseIterable, Sendable {
        case start = "pam_start"
        case authenticate = "pam_authenticate"
        case validateAccount = "pam_acct_mgmt"
    }

    /// The call.
    public let call: Call
    /// The return code, one of the `PAM_…` constants.
    public let code: UInt8

    /// What the code means.
    public enum Cause: Hashable, Sendable {
        case moduleNotLoaded
        case moduleFailed
        case notPermitted
        /// The module's data or device, or the service that it asks, cannot be reached.
        case unavailable
        case passwordExpired
        case promptFailed
        case gaveUp
        case other
    }

    /// The cause, by Linux-PAM's numbers in `_pam_types.h`.
    public var cause: Cause {
        switch code {
        // PAM_OPEN_ERR, PAM_SYMBOL_ERR, PAM_MODULE_UNKNOWN
        case 1, 2, 28: .moduleNotLoaded
        // PAM_SERVICE_ERR, PAM_SYSTEM_ERR, PAM_BUF_ERR
        case 3, 4, 5: .moduleFailed
        // PAM_CRED_INSUFFICIENT
        case 8: .notPermitted
        // PAM_AUTHINFO_UNAVAIL
        case 9: .unavailable
        // PAM_NEW_AUTHTOK_REQD, PAM_AUTHTOK_EXPIRED
        case 12, 27: .passwordExpired
        // PAM_CONV_ERR, PAM_CONV_AGAIN
        case 19, 30: .promptFailed
        // PAM_ABORT
        case 26: .gaveUp
        default: .other
        }
    }

    /// Records the call that returned `code`.
    public init(call: Call, code: Int32) {
        self.call = call
        self.code = UInt8(clamping: code)
    }
}

extension PAMCallFailure.Call: Transferable {}

extension PAMCallFailure: Transferable {
    package func write(to output: FrameWriter) { output.append(call, code) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        call = try fields.value(bytes)
        code = try fields.value(bytes)
    }
}
