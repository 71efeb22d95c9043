import CommandLineInterface
import Devices
import LocalEnrolment
import LocalSockets
import Verification
import WatchwordSystem

/// The parts of enrolments by users of this machine that the program adds: the check of the login
/// password, notices, and the log.
struct OwnEnrolment: Sendable {
    /// The socket on which the service manager starts `watchword-presence`.
    private let presenceSocket: String
    /// The socket of the program that sends notices.
    private let noticeSocket: String

    /// The time limit for checking a password, including the user's answers.
    private static let timeout = Duration.seconds(90)

    init(_ arguments: ServerArguments) {
        presenceSocket = arguments[.presenceSocket] ?? "/run/watchword/presence"
        noticeSocket = arguments[.noticeSocket] ?? "/run/watchword/notice"
    }

    /// Makes the desk that performs the users' tasks.
    func desk(
        _ verifier: Verifier, realm: Realm, limiter: OwnNameLimiter, log: ServerLog
    ) -> EnrolmentDesk {
        EnrolmentDesk(
            EnrolmentServices(
                verifier: verifier, realm: realm, limiter: limiter,
                checkPassword: { checkPassword(of: $0, log) },
                tell: { news in
                    switch news {
                    case .changed(let account, let change):
                        let notice = ChangeNotice(
                            to: account, about: change, in: realm, at: ServerContext.now())
                        send(notice, log)
                    case .failed(let error):
                        log.say(
                            "enrolment-failed", [("cause", ServerMessages.sentence(for: error))])
                    }
                }))
    }

    private func checkPassword(of connection: borrowing FileDescriptor, _ log: ServerLog) -> Bool? {
        do throws(PAMCheckFailure) {
            return try PeerCheck(socket: presenceSocket).isPresent(
                on: connection, timeout: Self.timeout)
        } catch {
            log.say(
                "password-not-checked",
                [("cause", ServerMessages.sentence(for: error, at: presenceSocket))])
            return nil
        }
    }

    /// Sends a notice if the administrator has configured notices.
    private func send(_ notice: ChangeNotice?, _ log: ServerLog) {
        guard let notice else {
            return log.say("notice-not-sent", [("cause", ServerMessages.noAddress)])
        }
        do throws(SystemCallFailure) {
            try notice.send(to: noticeSocket)
        } catch {
            guard !error.isNobodyListening else { return }
            log.say("notice-not-sent", [("cause", ServerMessages.sentence(for: error))])
        }
    }
}

/// A message to a user about a change to the user's authenticators, in the form of a mail (RFC
/// 5322).
struct ChangeNotice: Sendable {
    private let text: String

    /// Returns `nil` if the user's name is not a local part of an address that needs no quotation
    /// marks.
    init?(to account: String, about change: OwnChange, in realm: Realm, at time: UnixTime) {
        let isPlain = { (byte: UInt8) in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "_")
        }
        let isPermitted = { (byte: UInt8) in
            isPlain(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
        guard let first = account.utf8.first, isPlain(first), account.utf8.allSatisfy(isPermitted),
            !account.hasSuffix("."), !account.contains("..")
        else { return nil }
        text = """
            To: \(account)
            Subject: \(ServerMessages.noticeSubject(realm: realm))
            Auto-Submitted: auto-generated
            MIME-Version: 1.0
            Content-Type: text/plain; charset=utf-8
            Content-Transfer-Encoding: 8bit

            \(ServerMessages.notice(about: change, to: account, in: realm, at: time))

            """
    }

    /// Hands the message over to the program that listens at `path`.
    func send(to path: String) throws(SystemCallFailure) {
        let connection = try LocalSocket.connect(to: path)
        // The kernel holds such a short message until the program reads it.
        guard case .moved(text.utf8.count) = try connection.writeAvailable(Array(text.utf8).span)
        else { throw .connectionLost }
    }
}
