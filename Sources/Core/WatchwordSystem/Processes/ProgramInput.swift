internal import CLinux
internal import Glibc

/// Other programs that are given their input at once, and may keep running after this process.
///
/// They have a session of their own, so that closing the terminal does not end them, the folder `/`,
/// `/dev/null` as output and standard error, and no other open files.
public enum ProgramInput {
    /// The longest input, which a pipe holds without a reader.
    public static let limit = 4096

    /// Starts the program at `path` and does not wait for it.
    ///
    /// - Parameters:
    ///   - input: what it reads from its standard input; at most ``limit`` bytes.
    ///   - environment: the names of the variables that it inherits.
    public static func start(
        _ path: String, _ arguments: [String] = [], input: Span<UInt8>, environment: [String]
    ) throws(SystemCallFailure) {
        _ = try spawn(path, arguments, input: input, environment: environment)
    }

    /// Runs the program at `path` until its process ends; others that it has started keep running.
    ///
    /// - Returns: the exit status; `nil` if it was killed, here after `timeout` or by another process.
    public static func run(
        _ path: String, _ arguments: [String], input: Span<UInt8>, environment: [String],
        timeout: Duration
    ) throws(SystemCallFailure) -> Int32? {
        let process = try spawn(path, arguments, input: input, environment: environment)
        var status: Int32 = 0
        do throws(SystemCallFailure) {
            let opened = linux_open_process(process)
            guard opened >= 0 else { throw SystemCallFailure(call: "pidfd_open", number: errno) }
            let end = FileDescriptor(owning: opened)
            var remaining = timeout
            // A signal can interrupt the wait.
            while remaining > .zero, unsafe waitpid(process, &status, WNOHANG) == 0 {
                remaining -= try Polling.wait(for: [.reading(end)], timeout: remaining)
            }
            if remaining > .zero { return exitStatus(status) }
        } catch {
            stop(process)
            throw error
        }
        return exitStatus(stop(process))
    }

    /// Kills the process unless it has ended, and returns the status of wait(2).
    @discardableResult private static func stop(_ process: pid_t) -> Int32 {
        kill(process, SIGKILL)
        var status: Int32 = 0
        _ = retrying { unsafe waitpid(process, &status, 0) }
        return status
    }

    /// The exit status in a status of wait(2); `nil` if a signal ended the process.
    private static func exitStatus(_ status: Int32) -> Int32? {
        status & 0x7F == 0 ? (status >> 8) & 0xFF : nil
    }

    private static func spawn(
        _ path: String, _ arguments: [String], input: Span<UInt8>, environment: [String]
    ) throws(SystemCallFailure) -> pid_t {
        guard input.count <= limit else {
            throw SystemCallFailure(call: "write", number: EMSGSIZE)
        }
        let pipe = try Pipe()
        try pipe.writing.writeAll(input)
        let output = try FileDescriptor(openingDevice: "/dev/null")
        // The writing end is closed in the program, and here when this function returns.
        return try ChildProcess.spawn(
            path, arguments, Environment.variables(environment), input: pipe.reading,
            output: output, inOwnSession: true)
    }
}
