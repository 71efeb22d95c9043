internal import CLinux
internal import Glibc

/// A program that keeps running after this process has ended.
///
/// It has a session of its own, so that closing the terminal does not end it, the folder `/`, no open
/// files, and an environment that contains only the given variables.
public enum BackgroundProgram {
    /// Starts the program at `path`.
    ///
    /// - Returns: the end of a pipe from its standard output, non-blocking. The program reports over
    ///   it that it is ready, and closes it.
    public static func start(
        _ path: String, arguments: [String], environment: [String] = []
    ) throws(SystemCallFailure) -> FileDescriptor {
        let report = try Pipe()
        let nothing = try FileDescriptor(reading: "/dev/null")
        _ = try ChildProcess.spawn(
            path, arguments, environment, input: nothing, output: report.writing,
            inOwnSession: true)
        try report.reading.setBlocking(false)
        return try report.reading.duplicate()
    }
}
