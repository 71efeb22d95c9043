import Glibc
import PAMAuthentication

/// Works like `watchword-presence`, but reads the PAM service files from `pam.d` beside the link in
/// a test's folder through which it was started.
@main struct Program {
    static func main() {
        let path = CommandLine.arguments[0]
        guard let slash = path.lastIndex(of: "/") else { exit(2) }
        let folder = String(path[..<slash])
        startAnew(path, with: "\(folder)/environment")
        let arguments = CommandLine.arguments
        if arguments.dropFirst() == ["--peer"] {
            PAMProgram.runForPeer(serviceFolder: "\(folder)/pam.d")
        }
        if arguments.count == 3, arguments[1] == "--fingers" {
            PAMProgram.reportFingers(of: arguments[2])
        }
        let user = arguments.count == 3 && arguments[1] == "--user" ? arguments[2] : nil
        PAMProgram.run(serviceFolder: "\(folder)/pam.d", user: user)
    }

    /// Restarts the program with the environment in `file`, if it exists.
    ///
    /// The restart is needed because a library that replaces the user database must be preloaded.
    private static func startAnew(_ path: String, with file: String) {
        guard unsafe getenv("STARTED_ANEW") == nil, let lines = unsafe fopen(file, "r") else {
            return
        }
        var variables = ["STARTED_ANEW=1"]
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        while unsafe getline(&line, &room, lines) > 0 {
            guard let text = unsafe line else { continue }
            variables.append(String(unsafe String(cString: text).prefix { $0 != "\n" }))
        }
        let environment = unsafe variables.map { unsafe strdup($0) } + [nil]
        let arguments = unsafe CommandLine.arguments.map { unsafe strdup($0) } + [nil]
        unsafe execve("/proc/self/exe", arguments, environment)
        exit(2)
    }
}
