internal import PAMAuthentication
internal import WatchwordSystem

/// Runs the system's authentication modules (PAM).
///
/// `watchword` or `watchword-agent` starts the program and communicates over pipes. With `--user
/// ID`, the modules authenticate that user; with `--fingers ID`, the program reports which fingers
/// of that user are enrolled. Only the system agent uses these options. With `--peer`, the modules
/// authenticate the user of a connection that `watchword-server` sends; in this case, the service
/// manager starts the program. The process never runs as that user.
@main struct Program {
    private static let peer = "--peer"
    private static let fingers = "--fingers"

    static func main() {
        HelperProgram.main(
            "watchword-presence", hint: "it runs the system's PAM modules",
            oneOf: ["--user", fingers], task: peer
        ) { argument, user in
            if argument == peer { PAMProgram.runForPeer() }
            if argument == fingers { PAMProgram.reportFingers(of: user) }
            PAMProgram.run(user: user)
        }
    }
}
