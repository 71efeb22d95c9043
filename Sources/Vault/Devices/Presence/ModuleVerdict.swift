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

    private enum Kind: UInt8 {
        case granted = 1
        case denied = 2
        case noServiceFile = 3
        case noUserName = 4
        case accountRefused = 5
        case failed = 6
    }

    var bytes: [UInt8] {
        switch self {
        case .granted: [Kind.granted.rawValue]
        case .denied: [Kind.denied.rawValue]
        case .noServiceFile: [Kind.noServiceFile.rawValue]
        case .noUserName: [Kind.noUserName.rawValue]
        case .accountRefused(let failure): [Kind.accountRefused.rawValue] + failure.bytes
        case .failed(let failure): [Kind.failed.rawValue] + failure.bytes
        }
    }

    init?(parsing bytes: [UInt8]) {
        guard let kind = bytes.first.flatMap(Kind.init(rawValue:)) else { return nil }
        let rest = bytes.dropFirst()
        switch kind {
        case .granted, .denied, .noServiceFile, .noUserName:
            guard rest.isEmpty else { return nil }
            self =
                switch kind {
                case .granted: .granted
                case .denied: .denied
                case .noServiceFile: .noServiceFile
                default: .noUserName
                }
        case .accountRefused, .failed:
            guard let failure = PAMCallFailure(parsing: rest) else { return nil }
            self = kind == .failed ? .failed(failure) : .accountRefused(failure)
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

    fileprivate var bytes: [UInt8] { [code] + call.rawValue.utf8 }

    fileprivate init?(parsing bytes: ArraySlice<UInt8>) {
        let name = bytes.dropFirst()
        guard let code = bytes.first,
            let call = Call.allCases.first(where: { name.elementsEqual($0.rawValue.utf8) })
        else { return nil }
        self.code = code
        self.call = call
    }
}
