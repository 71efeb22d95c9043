internal import Glibc

/// A copy of this process, which learns nothing of what this process reads later.
public enum ProcessCopy {
    /// Starts a copy that runs `body` without this process's standard input and output.
    ///
    /// The process must have one thread. The copy dies with this process.
    ///
    /// - Parameter body: called in the copy with its end of a connection; then the copy ends.
    /// - Returns: this process's end of the connection.
    public static func start(
        _ body: (borrowing FileDescriptor) throws(SystemCallFailure) -> Void
    ) throws(SystemCallFailure) -> FileDescriptor {
        let sockets = try SocketPair()
        // Nobody waits for the copy, so that the kernel forgets it when it ends.
        signal(SIGCHLD, SIG_IGN)
        let copy = fork()
        guard copy >= 0 else { throw SystemCallFailure(call: "fork", number: errno) }
        guard copy == 0 else { return sockets.takeFirst() }
        do throws(SystemCallFailure) {
            try ProcessHardening.dieWithParent()
            let nothing = try FileDescriptor(openingDevice: "/dev/null")
            for number in [STDIN_FILENO, STDOUT_FILENO] {
                guard dup2(nothing.number, number) == number else {
                    throw SystemCallFailure(call: "dup2", number: errno)
                }
            }
            try body(sockets.second)
        } catch {
            // The other side sees the end of the connection.
        }
        ProcessEnd.atOnce(with: 0)
    }
}
