internal import CPAM
internal import Devices

/// A PAM transaction with a service's modules, ended when the value is destroyed.
@safe struct PAMTransaction: ~Copyable {
    private let handle: OpaquePointer
    // The conversation function uses it as long as the handle exists.
    private let channel: ModuleChannel
    private var lastResult = PAM_SUCCESS

    /// Reads the service file without calling a module.
    ///
    /// - Parameter folder: the folder with the service file, instead of the system's folders.
    init(service: String, folder: String?, user: String, channel: ModuleChannel)
        throws(PAMCheckFailure)
    {
        self.channel = channel
        var conversation = unsafe pam_conv(
            conv: converse, appdata_ptr: Unmanaged.passUnretained(channel).toOpaque())
        var started: OpaquePointer?
        let result: Int32 =
            if let folder {
                unsafe pam_start_confdir(service, user, &conversation, folder, &started)
            } else {
                unsafe pam_start(service, user, &conversation, &started)
            }
        guard result == PAM_SUCCESS, let ready = unsafe started else {
            throw PAMCheckFailure(.failed(PAMCallFailure(call: .start, code: result)))
        }
        unsafe handle = ready
    }

    deinit { unsafe pam_end(handle, lastResult) }

    /// Tells the modules that the person is not at this machine, but at an unknown place.
    mutating func setRemote() throws(PAMCheckFailure) {
        lastResult = unsafe "remote".withCString { unsafe pam_set_item(handle, PAM_RHOST, $0) }
        guard lastResult == PAM_SUCCESS else {
            throw PAMCheckFailure(.failed(PAMCallFailure(call: .start, code: lastResult)))
        }
    }

    /// Asks the modules to authenticate the user; an empty password is refused.
    ///
    /// - Returns: `false` if authentication failed.
    /// - Throws: ``PAMCheckFailure`` if the modules could not decide.
    mutating func authenticate() throws(PAMCheckFailure) -> Bool {
        lastResult = unsafe pam_authenticate(handle, Int32(bitPattern: PAM_DISALLOW_NULL_AUTHTOK))
        switch lastResult {
        case PAM_SUCCESS: return true
        case PAM_AUTH_ERR, PAM_USER_UNKNOWN, PAM_MAXTRIES, PAM_PERM_DENIED: return false
        default:
            throw PAMCheckFailure(.failed(PAMCallFailure(call: .authenticate, code: lastResult)))
        }
    }

    /// Asks the modules whether the user's account is valid now.
    mutating func validateAccount() throws(PAMCheckFailure) {
        lastResult = unsafe pam_acct_mgmt(handle, Int32(bitPattern: PAM_DISALLOW_NULL_AUTHTOK))
        guard lastResult == PAM_SUCCESS else {
            throw PAMCheckFailure(
                .accountRefused(PAMCallFailure(call: .validateAccount, code: lastResult)))
        }
    }
}
