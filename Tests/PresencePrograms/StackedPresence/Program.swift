import Glibc
import PAMAuthentication

/// Does what `watchword-presence` does with the service files that lie in `pam.d` beside the path that it
/// was started by: a link that a test made in a folder of its own.
@main struct Program {
    static func main() {
        let path = CommandLine.arguments[0]
        guard let slash = path.lastIndex(of: "/") else { exit(2) }
        let folder = String(path[..<slash])
        startAnew(path, with: "\(folder)/environment")
        PAMProgram.run(serviceFolder: "\(folder)/pam.d")
    }

    /// Becomes the same program with the environment in `file`, where there is one: a library that
    /// answers for the user database has to be loaded first.
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
        let arguments = unsafe [strdup(path), nil]
        unsafe execve("/proc/self/exe", arguments, environment)
        exit(2)
    }
}
