internal import Arguments
internal import PAMAuthentication

/// Runs the system's authentication modules (PAM).
///
/// `watchword` starts it and communicates over pipes.
@main struct Program {
    static func main() {
        HelperProgram.main("watchword-presence", hint: "it runs the system's PAM modules") {
            PAMProgram.run()
        }
    }
}
