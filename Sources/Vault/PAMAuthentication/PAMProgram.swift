internal import Devices
internal import Glibc
internal import WatchwordSystem

/// A program that only runs the system's PAM modules: `watchword-presence`, and the tests'
/// programs, which use a different folder of service files.
public enum PAMProgram {
    /// Asks the service's modules to authenticate the user of this process, and ends the process.
    ///
    /// - Parameters:
    ///   - folder: the folder with the service file, instead of the system's folders. An installed
    ///     program passes no folder, because anyone who could choose it could choose `pam_permit`.
    ///   - user: the ID of another user whom the modules authenticate instead.
    public static func run(serviceFolder folder: String? = nil, user: String? = nil) -> Never {
        do throws(SystemCallFailure) {
            try ProcessHardening.apply()
            try ProcessHardening.dieWithParent()
            let channel = try ModuleChannel()
            let number = if let user { UInt32(user) } else { getuid() }
            let service = Service(name: PAMService.name, folder: folder)
            channel.end(
                with: verdict(of: service, on: number, isClient: user != nil, over: channel))
        } catch {
            // The other process notices the missing verdict.
            ProcessEnd.atOnce(with: 6)
        }
    }

    /// Asks the modules for enrolments to authenticate the user at the other end of a connection,
    /// which a server sends over standard input; then ends the process.
    ///
    /// - Parameter folder: as for ``run(serviceFolder:user:)``.
    public static func runForPeer(serviceFolder folder: String? = nil) -> Never {
        do throws(SystemCallFailure) {
            try ProcessHardening.apply()
            let request = try PeerRequest()
            let service = Service(name: PAMService.enrolment, folder: folder)
            request.end(
                with: verdict(
                    of: service, on: request.user, isClient: true, over: request.channel))
        } catch {
            // The server notices the missing verdict.
            ProcessEnd.atOnce(with: 6)
        }
    }

    /// Reports which fingers of a user are enrolled, and ends the process.
    ///
    /// - Parameter user: the ID of the user.
    public static func reportFingers(of user: String?) -> Never {
        do throws(SystemCallFailure) {
            try ProcessHardening.apply()
            try ProcessHardening.dieWithParent()
            let output = FileDescriptor(owning: StandardStream.output.rawValue)
            let name = user.flatMap { UInt32($0) }.flatMap { UserDatabase.name(of: $0) }
            try FrameWriter(name.flatMap { FingerprintReaders.fingers(of: $0) }).write(to: output)
        } catch {
            // The other process notices the missing report.
            ProcessEnd.atOnce(with: 6)
        }
        ProcessEnd.atOnce(with: 0)
    }

    private struct Service {
        let name: String
        /// The folder of the service file, instead of the system's folders.
        let folder: String?

        var isInstalled: Bool {
            PAMService.isInstalled(name, in: folder.map { [$0] } ?? PAMService.folders)
        }
    }

    /// - Parameter isClient: whether the user is a client of this program's user.
    private static func verdict(
        of service: Service, on number: UInt32?, isClient: Bool, over channel: ModuleChannel
    ) -> ModuleVerdict {
        guard let number, let user = UserDatabase.name(of: number) else {
            return .failed(.noUserName)
        }
        guard service.isInstalled else { return .failed(.noServiceFile) }
        do throws(PAMCheckFailure) {
            var transaction = try PAMTransaction(
                service: service.name, folder: service.folder, user: user, channel: channel)
            // The modules cannot see where a client is, and a fingerprint reader, for example, is
            // useful only to a person at this machine.
            if isClient, !LoginManager.isAtMachine(number) { try transaction.setRemote() }
            guard try transaction.authenticate() else { return .denied }
            try transaction.validateAccount()
            return .granted
        } catch {
            return .failed(error.reason)
        }
    }
}
