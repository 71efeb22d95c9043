import Foundation
import TestSupport

/// A process that ends a server and removes its folder as soon as the test lets go of it, however
/// the test ends: the kernel closes the pipe of a process that crashed, too.
final class ServerKeeper: Sendable {
    private let process = Process()
    private let leash = Pipe()

    // Nothing but the process whose number the server itself wrote down, if it still works in the
    // server's folder. Killed rather than asked: nobody needs what is in there any more, and a
    // standby that is gone would keep a primary waiting. The shared memory of a killed server would
    // outlive it.
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
            print("a server was left to itself: \(error)")
        }
    }
}
