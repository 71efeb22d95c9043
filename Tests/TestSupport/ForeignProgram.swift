internal import Foundation

/// A system program that a test uses as an independent reference: `zbarimg`, `oathtool`, `strace`.
///
/// Skip the test if the program may be missing:
/// `@Test(.enabled(if: ForeignProgram("zbarimg") != nil))`.
public struct ForeignProgram: Sendable {
    /// The result of a program that has ended.
    public struct Outcome: Sendable {
        /// The exit code, or the negated signal number if a signal ended the program.
        public let status: Int32
        /// The bytes of standard output.
        public let output: [UInt8]
        /// The bytes of standard error.
        public let errors: [UInt8]

        /// Standard output as text.
        public var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// The full path of the program's file.
    public let path: String

    /// Looks for `name` in the folders of `PATH`; `nil` if it is not installed.
    public init?(_ name: String) {
        let folders = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let paths = folders.split(separator: ":").map { "\($0)/\(name)" }
        guard let found = paths.first(where: FileManager.default.isExecutableFile(atPath:)) else {
            return nil
        }
        path = found
    }

    /// Whether `strace` is installed and may trace a program.
    ///
    /// Some containers forbid it.
    public static let canTrace: Bool = {
        do {
            return try ForeignProgram("strace")?.run(["-o", "/dev/null", "true"]).status == 0
        } catch {
            return false
        }
    }()

    /// Whether Python and its package `cryptography` are installed, which the independent readers
    /// in `Scripts` need.
    public static let canReadIndependently: Bool = {
        do {
            return try ForeignProgram("python3")?.run(["-c", "import cryptography"]).status == 0
        } catch {
            return false
        }
    }()

    /// Uses the program at `path` without checking that it exists.
    public init(path: String) { self.path = path }

    /// Runs the program and waits for it to end.
    ///
    /// - Parameter input: the bytes on standard input; empty by default.
    /// - Parameter environment: replaces the test's own environment if given.
    /// - Parameter started: receives the process ID, which is valid until this call returns.
    public func run(
        _ arguments: [String], input: [UInt8] = [], environment: [String: String]? = nil,
        started: (Int32) -> Void = { _ in }
    ) throws -> Outcome {
        // Files instead of pipes: no output, however long, can block the program.
        let folder = try TemporaryFolder()
        let inputPath = try folder.write(input, to: "input")
        try folder.write([], to: "output")
        // Programs warn before they write a secret to a file that other users can read.
        try setMode(0o600, of: folder.file("output"))
        try folder.write([], to: "errors")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        if let environment { process.environment = environment }
        process.standardInput = try handle(reading: inputPath)
        process.standardOutput = try handle(writing: folder.file("output"))
        process.standardError = try handle(writing: folder.file("errors"))
        try process.start()
        started(process.processIdentifier)
        process.waitUntilExit()
        let ended = process.terminationStatus
        return Outcome(
            status: process.terminationReason == .exit ? ended : -ended,
            output: try folder.bytes(of: "output"), errors: try folder.bytes(of: "errors"))
    }

    private func handle(reading path: String) throws -> FileHandle {
        try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    }

    private func handle(writing path: String) throws -> FileHandle {
        try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }
}
