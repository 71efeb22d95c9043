internal import Glibc
internal import POSIX
internal import PresenceDevices

/// A program that only runs the system's PAM modules: `watchword-presence`, and the tests'
/// programs, which use another folder of service files.
public enum PAMProgram {
    /// Asks the service's modules to authenticate the user of this process, and ends the process.
    ///
    /// - Parameter folder: the folder with the service file, instead of the system's folders. An
    ///   installed program passes none: anyone who could choose the folder could choose
    ///   `pam_permit`.
    public static func run(serviceFolder folder: String? = nil) -> Never {
        do throws(SystemCallFailure) {
            try ProcessHardening.apply()
            try ProcessHardening.dieWithParent()
            let channel = try ModuleChannel()
            channel.end(with: verdict(in: folder, over: channel))
        } catch {
            // The other side notices that there is no verdict.
            ProcessEnd.atOnce(with: 6)
        }
    }

    private static func verdict(in folder: String?, over channel: ModuleChannel) -> ModuleVerdict {
        guard let user = RealUser.name() else { return .noUserName }
        guard PAMService.isInstalled(in: folder.map { [$0] } ?? PAMService.folders) else {
            return .noServiceFile
        }
        do throws(PAMCallFailure) {
            var transaction = try PAMTransaction(
                service: PAMService.name, folder: folder, user: user, channel: channel)
            guard try transaction.authenticate() else { return .denied }
            do throws(PAMCallFailure) {
                try transaction.validateAccount()
            } catch {
                return .accountRefused(error)
            }
            return .granted
        } catch {
            return .failed(error)
        }
    }
}

/// The user who started this process.
enum RealUser {
    /// The name in the system's user database; `nil` if there is none.
    static func name() -> String? {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        let result = unsafe getpwuid_r(getuid(), &entry, &buffer, buffer.count, &found)
        guard result == 0, unsafe found != nil, let name = unsafe entry.pw_name else { return nil }
        return unsafe String(validatingCString: name)
    }
}
