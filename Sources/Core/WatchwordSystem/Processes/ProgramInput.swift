internal import CLinux
internal import Glibc

/// Other programs that are given their input at once, and may keep running after this process.
///
/// Each has its own session, so that closing the terminal does not end it, the folder `/`,
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

    /// Runs the program at `path` and waits until its process ends; processes that it has started
    /// keep running.
    ///
    /// - Returns: the exit status; `nil` if the process was killed, by this function after `timeout`
    ///   or by another process.
    public static func run(
        _ path: String, _ arguments: [String], input: Span<UInt8>, environment: [String],
        timeout: Duration
    ) throws(SystemCallFailure) -> Int32? {
        let process = try spawn(path, arguments, input: input, environment: environment)
        var status: Int32 = 0
        do throws(SystemCallFailure) {
            let opened = try call("pidfd_open") { linux_open_process(process) }
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
            ChildProcess.Program(
                path: path, arguments: arguments,
                environment: Environment.variables(environment), hasOwnSession: true),
            input: pipe.reading, output: output)
    }
}

/// The output of another program.
public enum ProgramOutput {
    /// Runs a program without input and returns what it writes to its standard output, which may be
    /// secret.
    ///
    /// - Parameters:
    ///   - arguments: the arguments after the program's name.
    ///   - environment: the names of the variables that it inherits.
    ///   - limit: how many bytes it may write.
    ///   - timeout: after this time, it is killed.
    /// - Returns: `nil` if it takes too long or writes too much, or if an interrupting signal that
    ///   the caller holds back arrives in the meantime.
    public static func of(
        _ path: String, _ arguments: [String], environment: [String], limit: Int,
        timeout: Duration
    ) throws(SystemCallFailure) -> WipedBuffer? {
        let child = try ChildProcess(
            running: path, arguments: arguments, environment: Environment.variables(environment))
        let output = try WipedBuffer(capacity: limit + 1)
        var remaining = timeout
        while output.count <= limit {
            let progress = try output.append { output throws(SystemCallFailure) in
                try child.output.readAvailable(into: &output)
            }
            switch progress {
            case .ended: return output
            case .moved: break
            case .wouldWait:
                guard remaining > .zero, !SignalQueue.holdsBackInterruption() else { return nil }
                remaining -= try Polling.wait(
                    for: [.reading(child.output)], timeout: min(remaining, .seconds(1)))
            }
        }
        return nil
    }
}
