internal import PAMAuthentication
internal import WatchwordSystem

/// Runs the system's authentication modules (PAM).
///
/// `watchword` or `watchword-agent` starts it and communicates over pipes. With `--user ID`, the
/// modules authenticate that user; only the system agent uses this. The process never runs as that
/// user.
@main struct Program {
    static func main() {
        HelperProgram.main(
            "watchword-presence", hint: "it runs the system's PAM modules", options: ["--user"]
        ) { options in
            PAMProgram.run(user: options["--user"])
        }
    }
}
