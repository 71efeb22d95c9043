internal import LocalSockets
internal import WatchwordCryptography
internal import WatchwordSystem

/// Asks a remote server about one login.
///
/// `pam_watchword.so` starts the program as root, sends one request of the login protocol to its
/// standard input, and reads the response from its standard output. The messages on standard error
/// appear in the system log.
@main struct Program {
    private static let options = ["--server", "--key", "--ca", "--realm", "--timeout"]

    static func main() {
        HelperProgram.main(
            "watchword-pam-remote", hint: "pam_watchword.so starts it; see pam_watchword(8)",
            options: options
        ) { options in
            serve(options)
        }
    }

    private static func serve(_ options: [String: String]) -> Never {
        guard ifPossible(try ProcessHardening.apply()) != nil else {
            ProcessEnd.atOnce(with: 6)
        }
        let server = RemoteServer(options)
        finish(with: server.response(to: receivedRequest()))
    }

    private static func receivedRequest() -> LoginRequest {
        let message = ifPossible(
            try SecretBytes(capacity: LoginRequest.count) {
                output throws(SystemCallFailure) in
                _ = try FileDescriptor.fill(&output, from: StandardStream.input.rawValue)
            })
        guard let message, let request = message.withBytes({ LoginRequest($0) }) else {
            giveUp("watchword-pam-remote: the request is malformed")
        }
        return request
    }

    private static func finish(with response: LoginResponse) -> Never {
        // A failure cannot be reported, because only the module would read the report.
        let written: Void? = ifPossible(try StandardStream.output.write(response.bytes.span))
        ProcessEnd.atOnce(with: written == nil ? 6 : 0)
    }
}

/// Reports the reason why nothing was decided, and ends the process.
func giveUp(_ reason: String) -> Never {
    _ = ifPossible(try StandardStream.error.write(Array("\(reason)\n".utf8).span))
    _ = ifPossible(try StandardStream.output.write(LoginResponse.unavailable.bytes.span))
    ProcessEnd.atOnce(with: 6)
}
