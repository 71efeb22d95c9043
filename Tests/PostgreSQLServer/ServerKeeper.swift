import Foundation
import TestSupport

/// A helper process that ends a server and removes its folder when the test process releases the
/// server, or ends in any way: the kernel also closes the pipe of a crashed process.
final class ServerKeeper: Sendable {
    private let process = Process()
    private let leash = Pipe()

    // Ends only the process with the ID that the server itself recorded, and only if the process
    // still works in the server's folder. The signal is SIGQUIT, because the data is no longer
    // needed, and a primary without its standby would wait for the standby. With SIGKILL, the
    // server's shared memory would remain.
    private static let script = """
        trap '' INT TERM HUP
        read -r _
        pid=$(head -n 1 "$1/data/postmaster.pid" 2> /dev/null)
        memory=$(sed -n 7p "$1/data/postmaster.pid" 2> /dev/null | awk '{ print $2 }')
        if [ -n "$pid" ] && [ "$(readlink "/proc/$pid/cwd")" = "$1/data" ]; then
            kill -QUIT "$pid"
            while [ -d "/proc/$pid" ] && ! grep -q '^State:.*Z' "/proc/$pid/status" 2> /dev/null
            do sleep 0.01; done
        fi
        [ -z "$memory" ] || ipcrm -m "$memory" 2> /dev/null
        rm -rf "$1"
        """

    init(folder: String) throws {
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", ServerKeeper.script, "server-keeper", folder]
        process.environment = ["PATH": "/usr/bin:/bin"]
        process.standardInput = leash
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        try leash.fileHandleForReading.close()
    }

    deinit {
        do {
            try leash.fileHandleForWriting.close()
            process.waitUntilExit()
        } catch {
            print("a test server was not stopped: \(error)")
        }
    }
}
