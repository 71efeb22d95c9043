internal import Devices
internal import Glibc
internal import WatchwordSystem

/// A program that only runs the system's PAM modules: `watchword-presence`, and the tests'
/// programs, which use another folder of service files.
public enum PAMProgram {
    /// Asks the service's modules to authenticate the user of this process, and ends the process.
    ///
    /// - Parameters:
    ///   - folder: the folder with the service file, instead of the system's folders. An installed
    ///     program passes none: anyone who could choose the folder could choose `pam_permit`.
    ///   - user: the ID of another user whom the modules authenticate instead.
    public static func run(serviceFolder folder: String? = nil, user: String? = nil) -> Never {
        do throws(SystemCallFailure) {
            try ProcessHardening.apply()
            try ProcessHardening.dieWithParent()
            let channel = try ModuleChannel()
            channel.end(with: verdict(in: folder, of: user, over: channel))
        } catch {
            // The other side notices that there is no verdict.
            ProcessEnd.atOnce(with: 6)
        }
    }

    private static func verdict(
        in folder: String?, of other: String?, over channel: ModuleChannel
    ) -> ModuleVerdict {
        let number = if let other { UInt32(other) } else { getuid() }
        guard let number, let user = UserDatabase.name(of: number) else {
            return .failed(.noUserName)
        }
        guard PAMService.isInstalled(in: folder.map { [$0] } ?? PAMService.folders) else {
            return .failed(.noServiceFile)
        }
        do throws(PAMCheckFailure) {
            var transaction = try PAMTransaction(
                service: PAMService.name, folder: folder, user: user, channel: channel)
            // The modules cannot see where the client of the system agent is. A fingerprint reader,
            // for instance, is there only for a person at this machine.
            if other != nil, !LoginManager.isAtMachine(number) { try transaction.setRemote() }
            guard try transaction.authenticate() else { return .denied }
            try transaction.validateAccount()
            return .granted
        } catch {
            return .failed(error.reason)
        }
    }
}
