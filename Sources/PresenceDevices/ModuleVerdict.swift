/// What the system's modules made of the person in the end.
public enum ModuleVerdict: Hashable, Sendable {
    /// It is the person, and the account may be used.
    case granted
    /// It is not, as far as the modules can tell.
    case denied
    /// There is no service file, so no modules are named.
    case noServiceFile
    /// The user of this process has no name.
    case noUserName
    /// It is the person, but the account is locked or has expired.
    case accountRefused(PAMCallFailure)
    /// No module could tell.
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

/// A call of libpam that did not succeed.
public struct PAMCallFailure: Error, Hashable, Sendable {
    /// The calls that are made.
    public enum Call: String, CaseIterable, Sendable {
        case start = "pam_start"
        case authenticate = "pam_authenticate"
        case validateAccount = "pam_acct_mgmt"
    }

    /// The call.
    public let call: Call
    /// What it returned, a number of `PAM_…`.
    public let code: UInt8

    /// Names the call that returned `code`.
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
