internal import PAMAuthentication
internal import WatchwordSystem

/// Runs the system's authentication modules (PAM).
///
/// `watchword` or `watchword-agent` starts it and communicates over pipes. With `--user ID`, the
/// modules authenticate that user; only the system agent uses this. With `--peer`, the modules
/// authenticate the user of a connection that `watchword-server` sends; the service manager starts
/// this. The process never runs as that user.
@main struct Program {
    private static let peer = "--peer"

    static func main() {
        HelperProgram.main(
            "watchword-presence", hint: "it runs the system's PAM modules", option: "--user",
            task: peer
        ) { argument in
            if argument == peer { PAMProgram.runForPeer() }
            PAMProgram.run(user: argument)
        }
    }
}
