internal import Foundation

/// A program of the system that a test asks for a second opinion: `zbarimg`, `oathtool`, `strace`.
///
/// Where it may be missing, the test says so: `@Test(.enabled(if: ForeignProgram("zbarimg") != nil))`.
public struct ForeignProgram: Sendable {
    /// What a program left behind when it ended.
    public struct Outcome: Sendable {
        /// Its exit code; the signal's number, negative, when a signal ended it.
        public let status: Int32
        /// What it wrote to standard output.
        public let output: [UInt8]
        /// What it wrote to standard error.
        public let errors: [UInt8]

        /// Standard output as text.
        public var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// The full path of the program's file.
    public let path: String

    /// Looks for `name` in the folders of `PATH`; nothing when it is not there.
    public init?(_ name: String) {
        let folders = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let paths = folders.split(separator: ":").map { "\($0)/\(name)" }
        guard let found = paths.first(where: FileManager.default.isExecutableFile(atPath:)) else {
            return nil
        }
        path = found
    }

    /// Whether `strace` is there and may trace a program; some containers forbid it.
    public static let canTrace: Bool = {
        do {
            return try ForeignProgram("strace")?.run(["-o", "/dev/null", "true"]).status == 0
        } catch {
            return false
        }
    }()

    /// Takes the program at `path` as it is.
    public init(path: String) { self.path = path }

    /// Runs the program to its end.
    ///
    /// - Parameter input: what it finds on standard input; nothing by default.
    /// - Parameter environment: takes the place of the test's own when given.
    /// - Parameter started: is told the process's number, which is good until this call ends.
    public func run(
        _ arguments: [String], input: [UInt8] = [], environment: [String: String]? = nil,
        started: (Int32) -> Void = { _ in }
    ) throws -> Outcome {
        // Files instead of pipes: whatever the program says and however much, nobody waits for anybody.
        let folder = try TemporaryFolder()
        let inputPath = try folder.write(input, to: "input")
        try folder.write([], to: "output")
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
